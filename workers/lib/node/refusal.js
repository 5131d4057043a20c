"use strict";
// What a worker refuses: errors with a code of docs/protocol.md.

class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const refuse = (code, message) => {
  throw new Refusal(code, message);
};

function invalid(condition, message) {
  if (condition) refuse("invalid", message);
}

// orInvalid turns what a file or a type has wrong into a refusal.
function orInvalid(make) {
  try {
    return make();
  } catch (error) {
    return refuse("invalid", error.message);
  }
}

module.exports = { Refusal, invalid, orInvalid, refuse };
