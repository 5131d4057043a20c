-- name: Migrations
SELECT "schema_migrations"."version" FROM "schema_migrations" ORDER BY "schema_migrations"."version" ASC;
-- name: Session
SELECT "sessions".* FROM "sessions" WHERE "sessions"."token" = ? LIMIT 1;
-- name: CurrentUser
SELECT "users".* FROM "users" WHERE "users"."id" = ? LIMIT 1;
-- name: Taken
SELECT 1 AS one FROM "users" WHERE "users"."email_address" = ? LIMIT 1;
-- name: Cards
SELECT "cards".* FROM "cards" WHERE "cards"."account_id" = ? AND "cards"."status" = ? ORDER BY "cards"."position" ASC, "cards"."id" ASC LIMIT ? OFFSET ?;
-- name: CountCards
SELECT COUNT(*) FROM "cards" WHERE "cards"."account_id" = ? AND "cards"."status" = ?;
-- name: Card
SELECT "cards".* FROM "cards" WHERE "cards"."account_id" = ? AND "cards"."id" = ? LIMIT 1;
-- name: Preload
SELECT "cards_tags".* FROM "cards_tags" WHERE "cards_tags"."card_id" IN (?, ?, ?, ?, ?) ORDER BY "cards_tags"."card_id", "cards_tags"."tag_id";
-- name: Tags
SELECT "tags".* FROM "tags" INNER JOIN "cards_tags" ON "tags"."id" = "cards_tags"."tag_id" WHERE "cards_tags"."card_id" = ? ORDER BY "tags"."title" ASC;
-- name: Comments
SELECT "comments".* FROM "comments" WHERE "comments"."card_id" = ? ORDER BY "comments"."created_at" ASC, "comments"."id" ASC;
-- name: Events
SELECT "events".* FROM "events" WHERE "events"."eventable_id" = ? AND "events"."eventable_type" = ? ORDER BY "events"."id" DESC LIMIT 10;
-- name: Search
SELECT "cards".* FROM "cards" INNER JOIN "card_search" ON "card_search".rowid = "cards"."id" WHERE "card_search" MATCH ? AND "cards"."account_id" = ? ORDER BY rank, "cards"."id" LIMIT 20;
-- name: Touch
UPDATE "cards" SET "title" = ?, "updated_at" = ?, "lock_version" = "lock_version" + 1 WHERE "cards"."id" = ? AND "cards"."lock_version" = ?;
-- name: CreateSession
INSERT INTO "sessions" ("user_id", "token", "updated_at") VALUES (?, ?, ?) RETURNING "id";
-- name: CreateTag
INSERT INTO "tags" ("account_id", "title") VALUES (?, ?) ON CONFLICT ("account_id", "title") DO UPDATE SET "title" = excluded."title" RETURNING "id";
-- name: Tag
INSERT OR IGNORE INTO "cards_tags" ("card_id", "tag_id") VALUES (?, ?);
-- name: CreateComment
BEGIN;
SELECT "cards"."id" FROM "cards" WHERE "cards"."id" = :card AND "cards"."account_id" = :account;
INSERT INTO "comments" ("card_id", "creator_id", "body", "created_at") VALUES (:card, :user, :body, :now) RETURNING "id";
INSERT INTO "events" ("eventable_type", "eventable_id", "action", "particulars", "created_at") VALUES ('Card', :card, 'commented', :particulars, :now);
COMMIT;
-- name: Theme
UPDATE "accounts" SET "settings" = json_set("settings", '$.theme', ?) WHERE "accounts"."id" = ?;
-- name: Claim
UPDATE "jobs" SET "finished_at" = ? WHERE "id" IN (SELECT "id" FROM "jobs" WHERE "queue_name" = ? AND "finished_at" IS NULL ORDER BY "priority", "id" LIMIT 1) RETURNING "id";
