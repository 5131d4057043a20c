"""The operations of the plan rails, for a library that maps objects or for plain
SQL. What a library does is timed and its own; what is prepared and looked at
around it is SQL, alike for all."""

from collections import Counter

from assay_calls import Calls, call

TABLES = (
    "CREATE TABLE IF NOT EXISTS parties (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, theme VARCHAR)",
    "CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, party_id INTEGER,"
    " other_party_id INTEGER, name VARCHAR, address VARCHAR)",
    "CREATE TABLE IF NOT EXISTS json_parties (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, stuff JSON)",
)
NUMBERS = "WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < {})"


class Rails(Calls):
    """A library has these methods: sql(text), which returns rows; transaction();
    and the operations' steps: create_party(theme), create_person(party, name), which
    takes {id} in its name, all_parties(), get(id), first(id), rename(party, theme),
    destroy(party), eager_queries(names), eager_join(names), lazy(), json_party(),
    set_json_value(id), set_json(id). Parties have id and theme; eager and lazy
    loading return a list of people's ids for each party."""

    def create_tables(self):
        for sql in TABLES:
            self.sql(sql)

    def clear(self):
        self.sql("BEGIN")
        for table in ("parties", "people", "json_parties"):
            self.sql(f"DELETE FROM {table}")
        self.sql("COMMIT")

    def parties(self, times):
        self.sql(f"INSERT INTO parties (theme) {NUMBERS.format(times * self.n)} SELECT 'Halloween' FROM number")
        return [row[0] for row in self.sql("SELECT id FROM parties ORDER BY id")]

    def people(self, each, key="party_id"):
        self.sql(f"INSERT INTO people ({key}, name) {NUMBERS.format(each)} SELECT id, 'Test_' || i FROM parties, number")

    def json_parties(self):
        self.sql(f"""INSERT INTO json_parties (stuff) {NUMBERS.format(10 * self.n)} SELECT '{{"pumpkin":1,"candy":1}}' FROM number""")
        return [row[0] for row in self.sql("SELECT id FROM json_parties ORDER BY id")]

    def themes(self):
        return self.sql("SELECT theme, count(*) FROM parties GROUP BY theme")

    @call
    def model_object_creation(self):
        self.timed(lambda: [self.create_party("Halloween") for _ in range(50 * self.n)])
        return self.themes()

    @call
    def model_object_select(self):
        self.parties(100)
        return list(Counter(party.theme for party in self.timed(self.all_parties)).items())

    @call
    def model_object_select_by_pk(self):
        ids = self.parties(10)
        found = self.timed(lambda: [self.get(id) for id in ids])
        return [(len(found), [party.id for party in found] == ids)]

    @call
    def model_object_select_by_attr(self):
        ids = self.parties(10)
        found = self.timed(lambda: [self.first(id) for id in ids])
        return [(len(found), [party.id for party in found] == ids)]

    @call
    def model_object_select_and_save(self):
        self.parties(50)
        self.timed(lambda: [self.rename(party, party.theme + "1") for party in self.all_parties()])
        return self.themes()

    @call
    def model_object_destruction(self):
        self.parties(100)
        loaded = self.all_parties()
        self.timed(lambda: [self.destroy(party) for party in loaded])
        return [(len(loaded), self.sql("SELECT count(*) FROM parties")[0][0])]

    @call
    def model_object_and_associated_object_creation(self):
        self.timed(lambda: [self.create_person(self.create_party("X-mas"), "Test_{id}") for _ in range(20 * self.n)])
        parties = self.sql("SELECT count(*) FROM parties WHERE theme = 'X-mas'")[0][0]
        people = self.sql("SELECT count(*) FROM people JOIN parties ON parties.id = party_id WHERE name = 'Test_' || party_id")[0][0]
        return [(parties, people)]

    def loaded(self, parties, each, work, both=False):
        self.parties(parties)
        self.people(each)
        if both:
            self.people(each, "other_party_id")
        found = self.timed(work)
        return [(len(found), sum(map(len, found)), len({id for ids in found for id in ids}))]

    @call
    def eager_loading_query_per_association_with_1_to_1_records(self):
        return self.loaded(20, 1, lambda: self.eager_queries(["people"]))

    @call
    def eager_loading_single_query_with_1_to_1_records(self):
        return self.loaded(20, 1, lambda: self.eager_join(["people"]))

    @call
    def eager_loading_query_per_association_with_1_to_n_records(self):
        return self.loaded(1, self.n, lambda: self.eager_queries(["people"]))

    @call
    def eager_loading_single_query_with_1_to_n_records(self):
        return self.loaded(1, self.n, lambda: self.eager_join(["people"]))

    @call
    def eager_loading_query_per_association_with_1_to_n_to_n_records(self):
        return self.loaded(1, self.n, lambda: self.eager_queries(["people", "other_people"]), both=True)

    @call
    def eager_loading_single_query_with_1_to_n_to_n_records(self):
        return self.loaded(1, self.n, lambda: self.eager_join(["people", "other_people"]), both=True)

    @call
    def lazy_loading_with_1_to_1_records(self):
        return self.loaded(20, 1, self.lazy)

    @call
    def lazy_loading_with_1_to_n_records(self):
        return self.loaded(1, self.n, self.lazy)

    @call
    def model_object_select_json_nested(self):
        ids = self.json_parties()
        found = self.timed(lambda: [self.json_party() for _ in ids])
        return [(len(found), sum(stuff["pumpkin"] == 1 for stuff in found))]

    @call
    def model_object_update_json_nested(self):
        ids = self.json_parties()
        self.timed(lambda: [self.set_json_value(id) for id in ids])
        return self.pumpkins()

    @call
    def model_object_update_json(self):
        ids = self.json_parties()
        self.timed(lambda: [self.set_json(id) for id in ids])
        return self.pumpkins()

    def pumpkins(self):
        return self.sql("SELECT json_extract(stuff, '$.pumpkin'), json_extract(stuff, '$.candy'), count(*) FROM json_parties GROUP BY 1, 2")
