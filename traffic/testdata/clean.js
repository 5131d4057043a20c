const { clean, control } = require("../traffic.js");
const queries = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(queries.map((query) => [clean(query), control(clean(query))])));
