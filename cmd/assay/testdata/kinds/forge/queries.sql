-- name: GetUser
SELECT `id`, `lower_name`, `name`, `email`, `type`, `is_active` FROM `user` WHERE `lower_name`=? LIMIT 1;
-- name: GetRepository
SELECT * FROM `repository` WHERE `owner_id`=? AND `lower_name`=? LIMIT 1;
-- name: Explore
SELECT * FROM `repository` WHERE is_private=0 AND num_stars>=? ORDER BY updated_unix DESC LIMIT 20 OFFSET ?;
-- name: CanRead
SELECT `mode` FROM `access` WHERE `user_id`=? AND `repo_id`=?;
-- name: Issues
SELECT `issue`.* FROM `issue` INNER JOIN `repository` ON `issue`.repo_id = `repository`.id WHERE `issue`.repo_id=? AND `issue`.is_closed=? AND `issue`.is_pull=? ORDER BY `issue`.created_unix DESC, `issue`.id DESC LIMIT 20;
-- name: CountIssues
SELECT count(*) FROM `issue` WHERE repo_id=? AND is_closed=?;
-- name: Comments
SELECT * FROM `comment` WHERE issue_id=? ORDER BY created_unix ASC, id ASC;
-- name: LabelsOfIssues
SELECT * FROM `label` LEFT JOIN `issue_label` ON `issue_label`.label_id = `label`.id WHERE `issue_label`.issue_id IN (?, ?, ?) ORDER BY `label`.name, `issue_label`.id;
-- name: Feed
SELECT * FROM `action` WHERE user_id=? AND is_deleted=? AND repo_id IN (SELECT repo_id FROM `access` WHERE user_id=?) ORDER BY created_unix DESC, id DESC LIMIT 20;
-- name: GetSession
SELECT `data`, `expiry` FROM `session` WHERE `key`=?;
-- name: SaveSession
UPDATE `session` SET `data`=?, `expiry`=? WHERE `key`=?;
-- name: Expired
DELETE FROM `session` WHERE `expiry` < ?;
-- name: Star
BEGIN;
INSERT INTO `star` (`uid`, `repo_id`, `created_unix`) VALUES (:user, :repo, :now);
UPDATE `repository` SET num_stars=num_stars+1 WHERE id=:repo;
UPDATE `user` SET num_stars=num_stars+1 WHERE id=:user;
COMMIT;
-- name: AddComment
BEGIN;
INSERT INTO `comment` (`type`, `poster_id`, `issue_id`, `content`, `created_unix`) VALUES (0, :poster, :issue, :content, :now);
UPDATE `issue` SET num_comments=num_comments+1, updated_unix=:now WHERE id=:issue;
COMMIT;
-- name: ListAll
SELECT count(*) FROM `user` WHERE is_active = 1;
