const { fingerprint, control } = require("../traffic.js");
const queries = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(queries.map((query) => { const { id, text } = fingerprint(query); return [id, text, control(query)]; })));
