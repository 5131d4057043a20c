// Runs SQL on two connections that a form opened, as read.py does.
import { readFileSync } from "node:fs";
import { open } from "./database.mjs";

const connections = [await open("app.db"), await open("app.db")];
for (const line of readFileSync(0, "utf8").trimEnd().split("\n")) {
  const [, number, sql] = line.match(/^(\d) (.*)$/);
  try {
    if (connections[number].each) { // of sqlite3, which promises nothing
      const row = await new Promise((done, failed) => connections[number].get(sql, (error, row) => (error ? failed(error) : done(row))));
      console.log(String(Object.values(row ?? {})[0] ?? ""));
      continue;
    }
    const statement = connections[number].prepare(sql);
    statement.setReturnArrays?.(true); // of node:sqlite
    const answer = statement.setReturnArrays || statement.reader ? (statement.raw?.() ?? statement).get() : (statement.run(), []);
    console.log(String((answer ?? [])[0] ?? ""));
  } catch (error) {
    console.log("error: " + error.message);
  }
}
