-- name: Settings
SELECT `value` FROM `_params` WHERE `id` = 'settings';
-- name: Collection
SELECT * FROM `_collections` WHERE `id` = ?1 OR LOWER(`name`) = LOWER(?1) ORDER BY `id` LIMIT 1;
-- name: AuthRecord
SELECT `users`.* FROM `users` WHERE `users`.`tokenKey` = ? LIMIT 1;
-- name: AuthByEmail
SELECT `users`.* FROM `users` WHERE `users`.`email` = ? AND `users`.`email` != '' LIMIT 1;
-- name: ViewPost
SELECT `posts`.* FROM `posts` WHERE `posts`.`id` = ? AND (`posts`.`public` = 1 OR `posts`.`author` = ?) LIMIT 1;
-- name: ListPosts
SELECT DISTINCT `posts`.* FROM `posts` LEFT JOIN json_each(`posts`.`tags`) `t` LEFT JOIN `tags` ON `tags`.`id` = `t`.`value` WHERE `tags`.`name` = ? AND `posts`.`public` = 1 ORDER BY `posts`.`created` DESC, `posts`.`id` LIMIT 30 OFFSET ?;
-- name: CountPosts
SELECT COUNT(DISTINCT `posts`.`id`) FROM `posts` LEFT JOIN json_each(`posts`.`tags`) `t` WHERE `t`.`value` = ?;
-- name: ByLanguage
SELECT `id`, `title` FROM `posts` WHERE JSON_EXTRACT(`meta`, '$.lang') = ? ORDER BY `created` DESC, `id` LIMIT 30;
-- name: Expand
SELECT * FROM `users` WHERE `id` IN (?, ?, ?, ?) ORDER BY `id`;
-- name: Comments
SELECT * FROM `comments` WHERE `post` = ? ORDER BY `created`, `id`;
-- name: Stats
SELECT * FROM `post_stats` WHERE `id` = ?;
-- name: CreateComment
INSERT INTO `comments` (`id`, `post`, `author`, `message`, `created`) VALUES (?, ?, ?, ?, ?) RETURNING `id`;
-- name: UpdatePost
UPDATE `posts` SET `title` = ?, `tags` = ?, `updated` = ? WHERE `id` = ?;
-- name: SaveSettings
INSERT INTO `_params` (`id`, `value`, `updated`) VALUES (?, ?, ?) ON CONFLICT (`id`) DO UPDATE SET `value` = excluded.`value`, `updated` = excluded.`updated`;
-- name: Log
INSERT INTO `_logs` (`id`, `level`, `message`, `data`, `created`) VALUES (?, ?, ?, ?, ?);
-- name: DeleteComment
BEGIN;
DELETE FROM `comments` WHERE `id` = :id AND `author` = :author;
INSERT INTO `_logs` (`id`, `level`, `message`, `data`, `created`) VALUES (:log, 0, :message, :data, :created);
COMMIT;
