import { connect } from 'node:net';

/** What comes on a new connection, until the server ends it. */
export function rawAnswer(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('end', () => resolve(text)).on('error', reject);
  });
}
