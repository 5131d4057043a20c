// Runs SQL on two connections that a form opened, as read.py does.
import { readFileSync } from "node:fs";
import { open } from "./database.mjs";

const connections = [open("app.db"), open("app.db")];
for (const line of readFileSync(0, "utf8").trimEnd().split("\n")) {
  const [, number, sql] = line.match(/^(\d) (.*)$/);
  try {
    const statement = connections[number].prepare(sql);
    statement.setReturnArrays?.(true); // of node:sqlite
    const answer = statement.setReturnArrays || statement.reader ? (statement.raw?.() ?? statement).get() : (statement.run(), []);
    console.log(String((answer ?? [])[0] ?? ""));
  } catch (error) {
    console.log("error: " + error.message);
  }
}
