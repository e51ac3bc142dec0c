import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { verify } from "./verify.mjs";

const { PORT = "5055", SECRET } = process.env;

createServer(async (request, response) => {
  const body = await buffer(request);
  const isAuthentic = verify(request.headers, body, { secret: SECRET });
  response.writeHead(isAuthentic ? 204 : 400).end();
  const { type, subject } = isAuthentic ? JSON.parse(body) : {};
  process.stdout.write(isAuthentic ? `verified ${type} ${subject.id}\n` : "refused a request\n");
}).listen(PORT, "127.0.0.1");
