-- A shop with keys of every kind, a view, NULLs and BLOBs.
CREATE TABLE user (
  id INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE, name TEXT NOT NULL, city TEXT, born DATE,
  score REAL, avatar BLOB, visits INT NOT NULL DEFAULT 0, initial TEXT AS (substr(name, 1, 1)));
CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, user_id INTEGER NOT NULL REFERENCES user (id),
  status TEXT NOT NULL CHECK (status IN ('new', 'paid', 'sent')), total INTEGER NOT NULL, created TEXT NOT NULL);
CREATE INDEX orders_user ON orders (user_id, created);
CREATE TABLE tag (order_id INT NOT NULL REFERENCES orders (id), label TEXT NOT NULL, PRIMARY KEY (order_id, label)) WITHOUT ROWID;
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE note (body TEXT, mixed);
CREATE TABLE empty (a INT, b VARCHAR(20), c REAL, d BLOB);
CREATE TABLE big (id INTEGER PRIMARY KEY);
CREATE TABLE "odd table" ("odd column" TEXT);
CREATE VIRTUAL TABLE word USING fts5 (text);
CREATE VIEW paid AS SELECT o.id, u.mail, o.total FROM orders o JOIN user u ON u.id = o.user_id WHERE o.status = 'paid';

WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
INSERT INTO user SELECT i, 'u' || i || '@example.org', 'Name ' || (i * 7919 % 1000), CASE WHEN i % 10 THEN 'City ' || (i % 20) END,
  date('2000-01-01', '-' || (i * 11) || ' days'), i * 1.5, CASE WHEN i % 3 = 0 THEN zeroblob(20) END, i % 7 FROM n;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
INSERT INTO orders SELECT i, 1 + (i * 7919) % 200, CASE i % 3 WHEN 0 THEN 'new' WHEN 1 THEN 'paid' ELSE 'sent' END, (i * 31) % 1000 * 2,
  datetime('2024-01-01', '+' || i || ' hours') FROM n;
INSERT INTO tag SELECT id, 'gift' FROM orders WHERE id % 4 = 0;
INSERT INTO setting VALUES ('theme', 'dark'), ('lang', 'de'), ('size', '10');
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
INSERT INTO note SELECT 'note ' || i, CASE WHEN i % 2 THEN i ELSE 'text' END FROM n;
INSERT INTO big VALUES (-9000000000), (9000000000000000000);
INSERT INTO "odd table" VALUES ('x'), ('y');
INSERT INTO word VALUES ('apple pie');
