"""The operations of the plan rails in plain SQL, as a program writes them that
maps no objects: what a mapper costs is held against it."""

import contextlib
import itertools
import json
from collections import namedtuple

from assay_rails import Rails

Party = namedtuple("Party", "id theme")
KEYS = {"people": "party_id", "other_people": "other_party_id"}


class PlainSQL(Rails):
    def sql(self, text, args=()):
        return self.connection.execute(text, args).fetchall()

    @contextlib.contextmanager
    def transaction(self):
        self.connection.execute("BEGIN")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise

    def create_party(self, theme):
        return Party(self.connection.execute("INSERT INTO parties (theme) VALUES (?)", (theme,)).lastrowid, theme)

    def create_person(self, party, name):
        self.connection.execute("INSERT INTO people (party_id, name) VALUES (?, ?)", (party.id, name.format(id=party.id)))

    def all_parties(self):
        return [Party._make(row) for row in self.sql("SELECT id, theme FROM parties")]

    def get(self, id):
        return Party._make(self.sql("SELECT id, theme FROM parties WHERE id = ?", (id,))[0])

    def first(self, id):
        return Party._make(self.sql("SELECT id, theme FROM parties WHERE id = ? LIMIT 1", (id,))[0])

    def rename(self, party, theme):
        self.connection.execute("UPDATE parties SET theme = ? WHERE id = ?", (theme, party.id))

    def destroy(self, party):
        self.connection.execute("DELETE FROM parties WHERE id = ?", (party.id,))

    def eager_queries(self, names):
        found = {party.id: [] for party in self.all_parties()}
        for key in (KEYS[name] for name in names):
            marks = ", ".join("?" * len(found))
            for party, person in self.sql(f"SELECT {key}, id FROM people WHERE {key} IN ({marks})", tuple(found)):
                found[party].append(person)
        return list(found.values())

    def eager_join(self, names):
        joins = " ".join(f"LEFT JOIN people {name} ON {name}.{KEYS[name]} = parties.id" for name in names)
        columns = ", ".join(f"{name}.id" for name in names)
        found = {}
        for party, *people in self.sql(f"SELECT parties.id, {columns} FROM parties {joins}"):
            found.setdefault(party, [set() for _ in names])
            for ids, person in zip(found[party], people):
                if person is not None:
                    ids.add(person)
        return [list(itertools.chain.from_iterable(sets)) for sets in found.values()]

    def lazy(self):
        return [[row[0] for row in self.sql("SELECT id FROM people WHERE party_id = ?", (party.id,))] for party in self.all_parties()]

    def json_party(self):
        return json.loads(self.sql("SELECT stuff FROM json_parties WHERE json_extract(stuff, '$.pumpkin') = 1 LIMIT 1")[0][0])

    def set_json_value(self, id):
        self.connection.execute("UPDATE json_parties SET stuff = json_set(stuff, '$.pumpkin', 2) WHERE id = ?", (id,))

    def set_json(self, id):
        self.connection.execute("UPDATE json_parties SET stuff = ? WHERE id = ?", (json.dumps({"pumpkin": 2, "candy": 1}), id))
