import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import {
  AuthorizationError,
  InvalidArgumentError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from '@nats-io/transport-node';
import { messageOf } from '../../kernel/errors.js';
import { PublishFailed, type PublishFailureCode } from '../event-sink.js';
import type { NatsConfig } from './nats-config.js';

/** Error codes of JetStream. */
const TOO_LARGE = 10054;
const OTHER_STREAM = 10060;
const OTHER_PREDECESSOR = 10070;

type Problem = readonly [code: PublishFailureCode, problem: string, advice: string];

/** The message before it in the stream is not the one that was expected. */
export function isOutOfTurn(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === OTHER_PREDECESSOR;
}

/** The broker answered: the connection is well. */
export function isAnswer(error: unknown): boolean {
  return error instanceof JetStreamApiError || hasNoReceiver(error);
}

export function isMissingStream(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
}

/** No stream has the subject, or JetStream is off: the client says the latter in both cases. */
function hasNoReceiver(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof JetStreamApiError || (cause instanceof RequestError && cause.isNoResponders());
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

/** Why there is no connection. */
export function connectFailure(error: unknown): PublishFailed {
  const isRefused = error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError;
  const [code, problem, advice]: Problem = isRefused
    ? ['broker_refused', 'the broker refuses the credentials', 'check user and password, token or creds in broker']
    : ['broker_unreachable', `no connection to the broker: ${messageOf(error)}`, 'check broker.urls and the broker'];
  return new PublishFailed(code, problem, advice, 0, { cause: error });
}

/** Why the stream could not be looked at or created. */
export function streamFailure(error: unknown, { stream }: NatsConfig): PublishFailed {
  const [code, problem, advice]: Problem = isAnswer(error)
    ? ['broker_refused', `stream ${stream} cannot be created: ${messageOf(error)}`, 'create it, or enable JetStream']
    : ['broker_unreachable', `stream ${stream} cannot be read: ${messageOf(error)}`, 'check what the user may do'];
  return new PublishFailed(code, problem, advice, 0, { cause: error });
}

/** Why the event of that id was not stored, after `stored` others were. */
export function publishFailure(
  error: unknown,
  message: { readonly id: string; readonly subject: string },
  config: NatsConfig,
  stored: number,
): PublishFailed {
  const [code, problem, advice] = problemOf(error, message, config);
  return new PublishFailed(code, problem, advice, stored, { cause: error });
}

function problemOf(
  error: unknown,
  { id, subject }: { readonly id: string; readonly subject: string },
  { stream, subjectPrefix }: NatsConfig,
): Problem {
  if (hasNoReceiver(error)) {
    const advice = `create stream ${stream} with the subjects ${subjectPrefix}.>, or set broker.createStream; JetStream must be enabled`;
    return ['broker_refused', `no stream takes messages to ${subjectPrefix}.>`, advice];
  }
  const number = error instanceof JetStreamApiError ? error.code : null;
  if (number === OTHER_STREAM)
    return [
      'broker_refused',
      `${subject} belongs to another stream than ${stream}`,
      'change broker.stream or the subjects',
    ];
  if (number === TOO_LARGE || error instanceof InvalidArgumentError) {
    const advice = `raise max_msg_size of stream ${stream} and max_payload of the server`;
    return ['broker_refused', `event ${id} is too large for stream ${stream}`, advice];
  }
  if (number !== null) {
    const advice = `change stream ${stream} so that it takes the event; no event passes it`;
    return ['broker_refused', `stream ${stream} refuses event ${id}: ${messageOf(error)}`, advice];
  }
  if (error instanceof PermissionViolationError || causeOf(error) instanceof PermissionViolationError)
    return [
      'broker_refused',
      `the user may not publish to ${subjectPrefix}.>`,
      'allow it, and to subscribe to _INBOX.>',
    ];
  const words = error instanceof TimeoutError ? 'no acknowledgement in time' : messageOf(error);
  return [
    'broker_unreachable',
    `stream ${stream} did not answer: ${words}`,
    'check the broker, and that the stream has a leader',
  ];
}
