/**
 * The receiver of the webhooks that `npm run bench:deliveries` measures. Answers every POST request with 204
 * and every GET request with the number of deliveries that arrived, without repetitions.
 */
import { createServer } from "node:http";

const { PORT: port } = process.env;
const deliveryIds = new Set<string>();

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.method === "GET") {
    response.end(String(deliveryIds.size));
    return;
  }
  request.resume().once("end", () => {
    deliveryIds.add(String(request.headers["webhook-delivery-id"]));
    response.writeHead(204).end();
  });
});
server.listen(Number(port), "127.0.0.1");
