// Loaded before a server that would listen on all addresses: it listens on loopback, on $PORT or one that is free, which
// the first line of standard output tells. It ends when its standard input does.
const { Server } = require("node:net");

const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once("listening", () => process.stdout.write(`${this.address().port}\n`));
  return listen.call(this, Number(process.env.PORT ?? 0), "127.0.0.1", args.at(-1));
};
// What a server says of its own goes where nobody has to read it.
console.log = console.error = () => {};
process.stdin.on("end", () => process.exit()).resume();
