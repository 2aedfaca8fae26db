import { get, type IncomingMessage } from 'node:http';

export interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client of an event stream, which reads it as the HTML standard says. */
export class StreamClient {
  readonly frames: Frame[] = [];
  /** Frames that are no events: comments, and places in the log. */
  others = 0;
  lastId: string | null = null;
  ended = false;
  private unread = '';

  private constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('close', () => (this.ended = true));
  }

  static async open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<StreamClient> {
    const client = await StreamClient.openUnread(url, headers);
    client.response.on('data', (text: string) => client.take(text));
    return client;
  }

  /** A client that takes nothing of what is sent. */
  static openUnread(url: string, headers: Readonly<Record<string, string>> = {}): Promise<StreamClient> {
    return new Promise((resolve, reject) => {
      const request = get(url, { agent: false, headers: { accept: 'text/event-stream', ...headers } }, (response) =>
        resolve(new StreamClient(response)),
      );
      request.on('error', reject);
    });
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  close(): void {
    this.response.destroy();
  }

  private take(text: string): void {
    const parts = (this.unread + text).split('\n\n');
    this.unread = parts.pop() ?? '';
    for (const part of parts) this.dispatch(part.split('\n'));
  }

  private dispatch(lines: readonly string[]): void {
    const fields = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
    const data = fields.get('data');
    this.lastId = fields.get('id') ?? this.lastId;
    if (data === undefined) this.others += 1;
    else
      this.frames.push({
        id: this.lastId ?? '',
        event: fields.get('event') ?? 'message',
        data: JSON.parse(data) as Frame['data'],
      });
  }
}
