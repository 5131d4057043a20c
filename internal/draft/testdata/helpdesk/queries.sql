-- Queries of a help desk, as its repository holds them.

-- name: SignIn :one
SELECT id, name, json_extract(profile, '$.locale') AS locale FROM account WHERE tenant_id = ? AND mail = ?;

-- name: GetSession :one
SELECT account_id FROM session WHERE token = ? AND expires_at > 1750000000;

-- name: GetTicket :one
SELECT id, subject, body, state, comments FROM ticket WHERE id = ? AND tenant_id = ?;

-- The inbox of a tenant, newest first.
-- name: Inbox :many
SELECT id, subject, created_at FROM ticket WHERE tenant_id = ? AND state = ? ORDER BY created_at DESC, id LIMIT ?;

-- name: Comments :many
SELECT c.id, c.body, a.name FROM comment c JOIN account a ON a.id = c.account_id WHERE c.ticket_id = ? ORDER BY c.created_at, c.id;

-- name: Search :many
SELECT t.id, t.subject FROM ticket_text x JOIN ticket t ON t.id = x.rowid WHERE ticket_text MATCH ? AND t.tenant_id = ? ORDER BY t.id LIMIT 20;

-- name: BySource :many
SELECT id FROM ticket WHERE json_extract(extra, '$.source') = ? AND tenant_id = ? ORDER BY id LIMIT 50;

-- name: Labels :many
SELECT l.name FROM ticket_label tl JOIN label l ON l.id = tl.label_id WHERE tl.ticket_id = ? ORDER BY l.name;

-- name: Tagged :many
SELECT t.id, t.subject FROM ticket t JOIN ticket_label tl ON tl.ticket_id = t.id WHERE tl.label_id = ? AND t.tenant_id = ? ORDER BY t.id LIMIT 25;

-- name: Counts :many
SELECT state, count(*) FROM ticket WHERE tenant_id = ? GROUP BY state ORDER BY state;

-- name: Report :many
SELECT a.id, count(*), round(avg(t.priority), 3), round(sqrt(sum(t.comments)), 3) FROM ticket t JOIN account a ON a.id = t.account_id
WHERE t.tenant_id = @tenant AND t.created_at >= @since GROUP BY a.id ORDER BY 2 DESC, 1 LIMIT 10;

-- name: Between :many
SELECT id FROM comment WHERE created_at < ?2 AND created_at >= ?1 ORDER BY id LIMIT 100;

-- name: Close :exec
UPDATE ticket SET state = 'closed' WHERE id = ? AND tenant_id = ?;

-- name: Rename :exec
UPDATE account SET name = ?, profile = json_set(profile, '$.locale', ?) WHERE id = ? AND tenant_id = ?;

-- name: SetSetting :exec
INSERT INTO setting (account_id, name, value) VALUES (?, ?, ?) ON CONFLICT (account_id, name) DO UPDATE SET value = excluded.value;

-- name: CountView :exec
INSERT INTO view_count (ticket_id, views) VALUES (?, 1) ON CONFLICT (ticket_id) DO UPDATE SET views = views + 1;

-- name: AddLabel :exec
INSERT OR IGNORE INTO ticket_label (ticket_id, label_id) VALUES (?, ?);

-- name: StartSession :exec
REPLACE INTO session (token, account_id, expires_at) VALUES (?, ?, ?);

-- name: OpenTicket
BEGIN;
INSERT INTO ticket (tenant_id, account_id, subject, body, extra, created_at) VALUES (?, ?, ?, ?, ?, ?);
INSERT INTO comment (ticket_id, account_id, body, created_at) VALUES (?, ?, ?, ?);
UPDATE account SET seen_at = ? WHERE id = ?;
COMMIT;

-- name: Reply
BEGIN IMMEDIATE;
INSERT INTO comment (ticket_id, account_id, body, created_at) VALUES (@ticket, @account, @body, @at);
UPDATE ticket SET comments = comments + 1, state = 'waiting' WHERE id = @ticket;
SELECT comments FROM ticket WHERE id = @ticket;
COMMIT;

-- name: RemoveComment :exec
DELETE FROM comment WHERE id = ? AND ticket_id = ?;

-- name: Forgotten :many
SELECT nickname FROM account WHERE id = ?;

-- name: AllPairs :one
SELECT count(*) FROM comment a, comment b, comment c WHERE a.body < b.body || c.body;
