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

module.exports = { Refusal, invalid, refuse };
