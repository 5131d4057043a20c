"""The operations of the plan rails with Django's object-relational mapper. It joins
no associations of several objects, so that loading them by a single query is none
of its operations."""

from django.conf import settings

SETTINGS = {"ENGINE": "django.db.backends.sqlite3", "OPTIONS": {}, "TIME_ZONE": None, "CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": False,
            "AUTOCOMMIT": True, "ATOMIC_REQUESTS": False, "TEST": {}}
settings.configure(DATABASES={"default": {**SETTINGS, "NAME": ":memory:"}}, INSTALLED_APPS=[], USE_TZ=False, DEFAULT_AUTO_FIELD="django.db.models.AutoField")

import django  # noqa: E402: it wants the settings first
from django.db import connections, models, transaction  # noqa: E402
from django.db.models import F, Func, Value  # noqa: E402

from assay_rails import Rails  # noqa: E402

django.setup()


class Party(models.Model):
    theme = models.CharField(max_length=255, null=True)

    class Meta:
        app_label, db_table = "rails", "parties"


class Person(models.Model):
    party = models.ForeignKey(Party, models.DO_NOTHING, null=True, db_constraint=False, related_name="people")
    other_party = models.ForeignKey(Party, models.DO_NOTHING, null=True, db_constraint=False, related_name="other_people")
    name = models.CharField(max_length=255, null=True)
    address = models.CharField(max_length=255, null=True)

    class Meta:
        app_label, db_table = "rails", "people"


class JSONParty(models.Model):
    stuff = models.JSONField()

    class Meta:
        app_label, db_table = "rails", "json_parties"


class Mapped(Rails):
    eager_loading_single_query_with_1_to_1_records = None
    eager_loading_single_query_with_1_to_n_records = None
    eager_loading_single_query_with_1_to_n_to_n_records = None
    transaction = staticmethod(transaction.atomic)

    def __init__(self, connection, n, in_transaction):
        super().__init__(connection, n, in_transaction)
        connections["default"] = connection

    def sql(self, text):
        with self.connection.cursor() as cursor:
            cursor.execute(text)
            return cursor.fetchall()

    def create_party(self, theme):
        return Party.objects.create(theme=theme)

    def create_person(self, party, name):
        Person.objects.create(party=party, name=name.format(id=party.id))

    def all_parties(self):
        return list(Party.objects.all())

    def get(self, id):
        return Party.objects.get(pk=id)

    def first(self, id):
        return Party.objects.filter(id=id).first()

    def rename(self, party, theme):
        party.theme = theme
        party.save()

    def destroy(self, party):
        party.delete()

    def eager_queries(self, names):
        found = Party.objects.prefetch_related(*names)
        return [[person.id for name in names for person in getattr(party, name).all()] for party in found]

    def lazy(self):
        return [[person.id for person in party.people.all()] for party in Party.objects.all()]

    def json_party(self):
        return JSONParty.objects.filter(stuff__pumpkin=1).first().stuff

    def set_json_value(self, id):
        JSONParty.objects.filter(id=id).update(stuff=Func(F("stuff"), Value("$.pumpkin"), Value(2), function="json_set"))

    def set_json(self, id):
        for party in JSONParty.objects.filter(id=id):
            party.stuff = {"pumpkin": 2, "candy": 1}
            party.save()
