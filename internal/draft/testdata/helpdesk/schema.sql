-- A help desk: several tenants in one file, full-text search, JSON columns,
-- triggers that keep tenants apart and counters true, a join table with keys of
-- its own, settings that are upserted.
CREATE TABLE tenant (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, plan TEXT NOT NULL CHECK (plan IN ('free', 'team', 'company')));
CREATE TABLE account (
	id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenant (id), mail TEXT NOT NULL, name TEXT,
	profile TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(profile)), seen_at TEXT, UNIQUE (tenant_id, mail)
);
CREATE TABLE ticket (
	id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenant (id), account_id INTEGER NOT NULL REFERENCES account (id),
	subject TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open', priority REAL NOT NULL DEFAULT 1.0,
	comments INTEGER NOT NULL DEFAULT 0, extra JSON, created_at TEXT NOT NULL
);
CREATE INDEX ticket_by_state ON ticket (tenant_id, state, created_at);
CREATE INDEX ticket_by_source ON ticket (json_extract(extra, '$.source'));
CREATE TABLE comment (
	id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES ticket (id) ON DELETE CASCADE,
	account_id INTEGER NOT NULL REFERENCES account (id), body TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX comment_by_ticket ON comment (ticket_id, created_at);
CREATE TABLE label (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenant (id), name TEXT NOT NULL, UNIQUE (tenant_id, name));
CREATE TABLE ticket_label (
	ticket_id INTEGER NOT NULL REFERENCES ticket (id), label_id INTEGER NOT NULL REFERENCES label (id), PRIMARY KEY (ticket_id, label_id)
) WITHOUT ROWID;
CREATE TABLE setting (account_id INTEGER NOT NULL REFERENCES account (id), name TEXT NOT NULL, value TEXT, PRIMARY KEY (account_id, name)) WITHOUT ROWID;
CREATE TABLE session (token TEXT PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES account (id), expires_at INTEGER NOT NULL);
CREATE TABLE view_count (ticket_id INTEGER PRIMARY KEY REFERENCES ticket (id), views INTEGER NOT NULL DEFAULT 0);
CREATE VIRTUAL TABLE ticket_text USING fts5 (subject, body, content='ticket', content_rowid='id');

CREATE TRIGGER ticket_tenant BEFORE INSERT ON ticket
WHEN (SELECT tenant_id FROM account WHERE id = NEW.account_id) IS NOT NEW.tenant_id
BEGIN SELECT raise(ABORT, 'the account belongs to another tenant'); END;
CREATE TRIGGER ticket_added AFTER INSERT ON ticket
BEGIN INSERT INTO ticket_text (rowid, subject, body) VALUES (NEW.id, NEW.subject, NEW.body); END;
CREATE TRIGGER ticket_changed AFTER UPDATE OF subject, body ON ticket BEGIN
	INSERT INTO ticket_text (ticket_text, rowid, subject, body) VALUES ('delete', OLD.id, OLD.subject, OLD.body);
	INSERT INTO ticket_text (rowid, subject, body) VALUES (NEW.id, NEW.subject, NEW.body);
END;
CREATE TRIGGER comment_tenant BEFORE INSERT ON comment
WHEN (SELECT tenant_id FROM account WHERE id = NEW.account_id) IS NOT (SELECT tenant_id FROM ticket WHERE id = NEW.ticket_id)
BEGIN SELECT raise(ABORT, 'the account belongs to another tenant'); END;
CREATE TRIGGER label_tenant BEFORE INSERT ON ticket_label
WHEN (SELECT tenant_id FROM label WHERE id = NEW.label_id) IS NOT (SELECT tenant_id FROM ticket WHERE id = NEW.ticket_id)
BEGIN SELECT raise(ABORT, 'the label belongs to another tenant'); END;

WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 8)
INSERT INTO tenant SELECT i, 'tenant-' || i, CASE i % 3 WHEN 0 THEN 'free' WHEN 1 THEN 'team' ELSE 'company' END FROM k;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 240)
INSERT INTO account SELECT i, 1 + i % 8, 'user' || i || '@example.org', 'User ' || i,
	json_object('locale', CASE i % 2 WHEN 0 THEN 'en' ELSE 'de' END, 'mails', i % 5), datetime(1700000000 + i * 60, 'unixepoch') FROM k;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 2000)
INSERT INTO ticket (tenant_id, account_id, subject, body, state, priority, extra, created_at)
SELECT 1 + (1 + i * 7 % 240) % 8, 1 + i * 7 % 240, 'Printer ' || i || ' is out of ' || CASE i % 3 WHEN 0 THEN 'paper' WHEN 1 THEN 'toner' ELSE 'order' END,
	'It stopped at page ' || (i * 13 % 97) || ' and shows error ' || (i % 29) || '. Please send help to floor ' || (i % 11) || '.',
	CASE i % 4 WHEN 0 THEN 'open' WHEN 1 THEN 'closed' WHEN 2 THEN 'waiting' ELSE 'open' END, 0.5 + i % 7,
	json_object('source', CASE i % 3 WHEN 0 THEN 'mail' WHEN 1 THEN 'web' ELSE 'phone' END, 'tries', i % 4), datetime(1700000000 + i * 600, 'unixepoch') FROM k;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 6000)
INSERT INTO comment (ticket_id, account_id, body, created_at)
SELECT t.id, t.account_id, 'Comment ' || k.i || ': we had a look at it and come on ' || (k.i % 28 + 1) || '.', datetime(1700000000 + k.i * 300, 'unixepoch')
FROM k JOIN ticket t ON t.id = 1 + k.i * 31 % 2000;
UPDATE ticket SET comments = (SELECT count(*) FROM comment WHERE ticket_id = ticket.id);
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 48)
INSERT INTO label SELECT i, 1 + i % 8, 'label-' || i FROM k;
INSERT INTO ticket_label SELECT t.id, l.id FROM ticket t JOIN label l ON l.tenant_id = t.tenant_id WHERE (t.id + l.id) % 3 = 0;
INSERT INTO setting SELECT id, 'theme', CASE id % 2 WHEN 0 THEN 'dark' ELSE 'light' END FROM account;
INSERT INTO setting SELECT id, 'page', '25' FROM account WHERE id % 2 = 0;
INSERT INTO session SELECT printf('%032x', id * 7919), id, 1800000000 + id FROM account;
INSERT INTO view_count SELECT id, id % 50 FROM ticket WHERE id % 2 = 0;
