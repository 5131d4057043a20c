"""The operations of the plan rails with SQLAlchemy's object-relational mapper. The
connection is in autocommit mode, so that each flush of a session is a commit."""

import contextlib

from sqlalchemy import JSON, ForeignKey, func, select, update
from sqlalchemy.orm import DeclarativeBase, Mapped as Column, Session, joinedload, mapped_column, relationship, selectinload

from assay_rails import Rails


class Base(DeclarativeBase):
    pass


class Party(Base):
    __tablename__ = "parties"
    id: Column[int] = mapped_column(primary_key=True)
    theme: Column[str | None]
    people = relationship("Person", foreign_keys="Person.party_id", back_populates="party", passive_deletes="all")
    other_people = relationship("Person", foreign_keys="Person.other_party_id", passive_deletes="all")


class Person(Base):
    __tablename__ = "people"
    id: Column[int] = mapped_column(primary_key=True)
    party_id: Column[int | None] = mapped_column(ForeignKey("parties.id"))
    other_party_id: Column[int | None] = mapped_column(ForeignKey("parties.id"))
    name: Column[str | None]
    address: Column[str | None]
    party = relationship("Party", foreign_keys=party_id, back_populates="people")


class JSONParty(Base):
    __tablename__ = "json_parties"
    id: Column[int] = mapped_column(primary_key=True)
    stuff = mapped_column(JSON)


class Mapped(Rails):
    session = None

    def unit(self, name):
        with Session(self.connection, expire_on_commit=False) as self.session:
            return super().unit(name)

    def sql(self, text):
        result = self.connection.exec_driver_sql(text)
        return [tuple(row) for row in result] if result.returns_rows else []

    @contextlib.contextmanager
    def transaction(self):
        self.connection.exec_driver_sql("BEGIN")
        try:
            yield
            self.connection.exec_driver_sql("COMMIT")
        except BaseException:
            self.connection.exec_driver_sql("ROLLBACK")
            raise

    def save(self, entity):
        self.session.add(entity)
        self.session.commit()
        return entity

    def create_party(self, theme):
        return self.save(Party(theme=theme))

    def create_person(self, party, name):
        self.save(Person(party=party, name=name.format(id=party.id)))

    def all_parties(self):
        return self.session.scalars(select(Party)).all()

    def get(self, id):
        return self.session.get(Party, id)

    def first(self, id):
        return self.session.scalars(select(Party).where(Party.id == id).limit(1)).first()

    def rename(self, party, theme):
        party.theme = theme
        self.session.commit()

    def destroy(self, party):
        self.session.delete(party)
        self.session.commit()

    def eager(self, names, how):
        found = self.session.scalars(select(Party).options(*(how(getattr(Party, name)) for name in names)))
        return [[person.id for name in names for person in getattr(party, name)] for party in found.unique()]

    def eager_queries(self, names):
        return self.eager(names, selectinload)

    def eager_join(self, names):
        return self.eager(names, joinedload)

    def lazy(self):
        return [[person.id for person in party.people] for party in self.all_parties()]

    def json_party(self):
        return self.session.scalars(select(JSONParty).where(JSONParty.stuff["pumpkin"].as_integer() == 1).limit(1)).first().stuff

    def set_json_value(self, id):
        changed = func.json_set(JSONParty.stuff, "$.pumpkin", 2)
        self.session.execute(update(JSONParty).where(JSONParty.id == id).values(stuff=changed).execution_options(synchronize_session=False))
        self.session.commit()

    def set_json(self, id):
        for party in self.session.scalars(select(JSONParty).where(JSONParty.id == id)):
            party.stuff = {"pumpkin": 2, "candy": 1}
        self.session.commit()
