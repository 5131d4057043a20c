-- Of the kind of a backend whose tables users make: ids that are texts and have a default
-- that SQLite computes, JSON for lists of relations, a view, settings as JSON.
CREATE TABLE `_collections` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `system` BOOLEAN DEFAULT FALSE NOT NULL, `name` TEXT UNIQUE NOT NULL, `fields` JSON DEFAULT "[]" NOT NULL, `listRule` TEXT DEFAULT NULL, `updated` TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%fZ')) NOT NULL);
CREATE TABLE `_params` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `value` JSON DEFAULT NULL, `updated` TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%fZ')) NOT NULL);
CREATE TABLE `users` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `email` TEXT DEFAULT '' NOT NULL, `emailVisibility` BOOLEAN DEFAULT FALSE NOT NULL, `verified` BOOLEAN DEFAULT FALSE NOT NULL, `name` TEXT DEFAULT '' NOT NULL, `tokenKey` TEXT DEFAULT '' NOT NULL, `password` TEXT DEFAULT '' NOT NULL, `created` TEXT DEFAULT '' NOT NULL, `updated` TEXT DEFAULT '' NOT NULL);
CREATE UNIQUE INDEX `idx_tokenKey__users` ON `users` (`tokenKey`);
CREATE UNIQUE INDEX `idx_email__users` ON `users` (`email`) WHERE `email` != '';
CREATE TABLE `posts` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `title` TEXT DEFAULT '' NOT NULL, `body` TEXT DEFAULT '' NOT NULL, `author` TEXT DEFAULT '' NOT NULL, `tags` JSON DEFAULT '[]' NOT NULL, `meta` JSON DEFAULT NULL, `public` BOOLEAN DEFAULT FALSE NOT NULL, `views` NUMERIC DEFAULT 0 NOT NULL, `created` TEXT DEFAULT '' NOT NULL, `updated` TEXT DEFAULT '' NOT NULL);
CREATE INDEX `idx_posts_author` ON `posts` (`author`, `created`);
CREATE TABLE `tags` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `name` TEXT DEFAULT '' NOT NULL);
CREATE UNIQUE INDEX `idx_tags_name` ON `tags` (`name`);
CREATE TABLE `comments` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `post` TEXT DEFAULT '' NOT NULL, `author` TEXT DEFAULT '' NOT NULL, `message` TEXT DEFAULT '' NOT NULL, `created` TEXT DEFAULT '' NOT NULL);
CREATE INDEX `idx_comments_post` ON `comments` (`post`);
CREATE VIEW `post_stats` AS SELECT p.id, p.title, (SELECT count(*) FROM comments c WHERE c.post = p.id) AS comments FROM posts p;
CREATE TABLE `_logs` (`id` TEXT PRIMARY KEY DEFAULT ('r'||lower(hex(randomblob(7)))) NOT NULL, `level` INTEGER DEFAULT 0 NOT NULL, `message` TEXT DEFAULT "" NOT NULL, `data` JSON DEFAULT "{}" NOT NULL, `created` TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%fZ')) NOT NULL);
CREATE INDEX `idx_logs_created` ON `_logs` (`created`);
INSERT INTO `_collections` (`id`, `name`, `fields`, `updated`) VALUES ('c1', 'users', '[{"name":"email","type":"email"}]', '2026-01-01 00:00:00.000Z'), ('c2', 'posts', '[{"name":"title","type":"text"}]', '2026-01-01 00:00:00.000Z'), ('c3', 'comments', '[]', '2026-01-01 00:00:00.000Z');
INSERT INTO `_params` VALUES ('settings', '{"meta":{"appName":"Own"},"smtp":{"enabled":false}}', '2026-01-01 00:00:00.000Z');
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 100) INSERT INTO `users` SELECT printf('u%014x', i * 7919), 'u' || i || '@example.org', i % 2, 1, 'Name ' || i, printf('key%020d', i), '$2a$10$' || i, printf('2026-01-01 00:%02d:00.000Z', i % 60), '2026-02-01 00:00:00.000Z' FROM k;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 20) INSERT INTO `tags` SELECT printf('t%014x', i * 31), 'tag' || i FROM k;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 500) INSERT INTO `posts` SELECT printf('p%014x', i * 104729), 'Title ' || i, 'text of the post ' || i, (SELECT id FROM users WHERE rowid = 1 + i % 100), json_array((SELECT id FROM tags WHERE rowid = 1 + i % 20), (SELECT id FROM tags WHERE rowid = 1 + (i + 7) % 20)), json_object('lang', iif(i % 2, 'en', 'de')), i % 4 > 0, i, printf('2026-03-%02d 00:%02d:00.000Z', 1 + i % 28, i % 60), '2026-04-01 00:00:00.000Z' FROM k;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 1500) INSERT INTO `comments` SELECT printf('m%014x', i * 31337), (SELECT id FROM posts WHERE rowid = 1 + i % 500), (SELECT id FROM users WHERE rowid = 1 + i % 100), 'message ' || i, printf('2026-03-%02d 00:%02d:00.000Z', 1 + i % 28, i % 60) FROM k;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 300) INSERT INTO `_logs` SELECT printf('l%014x', i), i % 8, 'GET /api', '{"status":200}', printf('2026-03-%02d 00:%02d:00.000Z', 1 + i % 28, i % 60) FROM k;
