import { FakeResolver, guardedSender, shipment } from './sender-lab.js';

/*
 * Sends to the URLs of its arguments, each name of which means 127.0.0.1, and prints the answers. A process of its own, because Node reads
 * NODE_EXTRA_CA_CERTS at its start.
 */
const sender = guardedSender({ allow: ['127.0.0.1'], resolver: new FakeResolver(['127.0.0.1']) });
const answers = await Promise.all(process.argv.slice(2).map((url) => sender.send(shipment(url))));
await sender.onApplicationShutdown();
process.stdout.write(JSON.stringify(answers));
