import { whole } from '../node-error-text.js';
import type { Row } from './row.js';

/** Errors of the provider in front of the node: plans, keys, methods. */
export const ACCESS_ROWS: readonly Row[] = [
  { class: 'method_unsupported', any: ['not included in your .{0,10}plan'] },
  {
    class: 'rate_limited',
    any: [
      'rate limit|rate exceeded|too many requests|error code:? 1015',
      'request (limit|count|rate) (is )?(reached|exceeded)|request rate|exceeds defined limit',
      '(rps|requests?) (per second )?limit|requests per second|concurrent requests',
      '(requests|credits|cu|calls?) limit',
      '(usage|throughput|bandwidth|(daily|monthly) \\w+) limit|credits? (are )?exhausted|throttl(ed|ing)',
      'too many connections|requests too (fast|often)',
      'compute units?|over capacity|capacity (limit|exceeded)|quota|free tier|for your current plan|too much load',
    ],
  },
  { class: 'rate_limited', any: ['limit exceeded'], codes: [-32005, 429] },
  {
    class: 'method_unsupported',
    any: [
      'method (is )?not (found|supported|available|allowed|enabled|implemented)|not (yet )?implemented',
      '(the )?method [\\w.]+( \\w+)? (does not exist|is not (available|supported|found|allowed|whitelisted))',
      '(unknown|unsupported) (json )?(rpc )?method|method deprecated',
      'endpoint (is )?not supported|by this endpoint|unsupported chain\\b',
      'submission not allowed|sending transactions? .{0,20}(not|disabled)',
      '\\beth \\w+ (is )?(disabled|not (supported|available|allowed|enabled))',
      'not allowed to access|access denied|unauthori[sz]ed|forbidden',
      'authorization required|must be authenticated|must authenticate',
      'api key|\\bkey is inactive|project id|account suspended|endpoint disabled',
    ],
  },
];

/** After every row whose text these errors may contain: "failed to forward tx to sequencer, please try again: 'already known'". */
export const NODE_ROWS: readonly Row[] = [
  {
    class: 'transient',
    any: [
      'time(d)? out|deadline exceeded|timeout',
      // A proxy gave up; one of its tries may have arrived.
      'retr(y|ies)( limit| attempts)? (exceeded|exhausted)',
      /\be(conn\w+|notfound|timedout|pipe|hostunreach|netunreach|ai again)\b|\bund err\b|socket hang up|fetch failed/,
      'connection (was |is )?(reset|refused|closed|aborted|terminat)|connect error',
      'context cancell?ed|closed \\w+ connection|other side closed|broken pipe|unexpected eof',
      'unreachable|no route to host|no such host|offline|web server is',
      /\b50[234]\b|error code:? ?52\d/,
      'service (temporarily )?unavailable|bad gateway|temporarily|try again|overloaded|\\bbusy\\b|not accepting',
      'shutting down|channel closed|creation stopped|mutex held|missing response|no response|returns a null value',
      '(invalid|unexpected) (json rpc )?response|backend request failed|unable to (process|complete)',
    ],
  },
  {
    // The node lags, has pruned the state, or is starting.
    class: 'transient',
    any: [
      'sync is (still )?in progress|still syncing|is syncing|out of sync',
      'not (yet )?sync|catch up|indexing (is |still )?in progress',
      'not connected to any|not yet up|paused|no signing keys|state pruning|in available range',
      whole('syncing'),
      '(block|header|state|resource|data|chain head|upstream|trie node|latest block)\\b.{0,80}(not (be )?(found|available|exist)|unavailable|missing)',
      'missing trie node|could not find latest|current state|unknown block',
      'pruned|beyond head|oldest allowed|range error|does n.t exist yet',
      'no .{0,20}(upstream|nodes?|server|backend)s? (is )?(currently )?(available|healthy)',
      'no response|not (initialized|currently healthy|healthy|ready)|head state is nil',
      'platform (not active|transaction not created)|transaction expired|immature records|no healthy upstream',
      'failed to (publish|forward|include) |database (error|is locked)|(level|pebble|mdbx|rocks) db\\b',
    ],
  },
  {
    class: 'ambiguous_internal',
    any: [
      'internal .{0,20}(error|failure)|plugin internal',
      'unexpected (error|state|vm behavior)|something went wrong|\\bserver error',
      'unknown error|error invoking rpc|transaction to pool failed',
    ],
  },
];
