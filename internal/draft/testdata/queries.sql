-- Queries of the shop.
PRAGMA foreign_keys = ON;

-- name: user-by-id
SELECT id, mail, name FROM user WHERE id = ?;

-- User by mail
SELECT * FROM user WHERE mail = :mail; -- not a name

SELECT count(*), sum(total) FROM orders WHERE status = ?;
SELECT o.id, o.total, u.name FROM orders o JOIN user u ON u.id = o.user_id
  WHERE o.user_id = $user ORDER BY o.created DESC LIMIT $limit;
SELECT id FROM orders WHERE created BETWEEN ? AND ? ORDER BY id;
SELECT id, mail FROM paid WHERE total > ? ORDER BY id;
SELECT value FROM setting WHERE key IN (?, ?);
SELECT id FROM user WHERE name = :text OR city = :text ORDER BY id;

-- name: add-user
INSERT INTO user (mail, name, city, born, score, avatar) VALUES (?, ?, ?, ?, ?, ?);
INSERT INTO orders (user_id, status, total, created) VALUES (@u, @s, @t, datetime('now')) RETURNING id;
INSERT INTO tag VALUES (?, ?) ON CONFLICT DO NOTHING;
UPDATE orders SET status = ?, total = total + ? WHERE id = ?;
UPDATE user SET name = ?1, city = ?2 WHERE mail = ?3;
DELETE FROM tag WHERE order_id = ? AND label = ?;
SELECT * FROM user ORDER BY random() LIMIT 1;
BEGIN; COMMIT;
