import { whole } from '../node-error-text.js';
import type { Row } from './row.js';

export const NONCE_ROWS: readonly Row[] = [
  {
    class: 'nonce_max_value',
    any: [
      'nonce (has )?max(imum)? value|nonce max($|\\W)',
      whole('eip 2681'),
      'nonce .{0,20}overflow',
      'nonce (value )?exceed(s|ed) (the )?(max|u64|limit|2\\^)|nonce at max',
      'nonce (must be less than|>= ?) 2\\^',
    ],
  },
  {
    class: 'nonce_too_high',
    any: [
      'nonce # (is |was )?too (high|distant|far|big|large)',
      'nonce (is |has )?too (far in (the )?future|big a gap)|future nonce|distant future',
      'nonce (is )?(higher|greater|larger|above) than',
      'cyclic(ally)? (dependent )?transaction',
      'nonce gap',
      'invalid transaction with a lower nonce|lower nonce invalid',
      // Besu uses "below" for the other direction.
      'nonce # does not match sender account nonce',
    ],
  },
  {
    // Includes texts that do not say whether the nonce is too low or too high: reading receipts is right for both.
    class: 'nonce_too_low',
    any: [
      'nonce # (is |was )?too (low|small|old)|stale nonce|no longer valid|minimum expected nonce',
      'nonce # (is )?(lower|less|smaller|below|behind)',
      "\\bold nonce|nonce mismatch|nonce # ((does not|doesn't|do not) match|is not (identical|equal|consistent))",
      '(invalid|incorrect|wrong|bad) (transaction |account |tx )?(nonce|sequence)',
      "(doesn't|does not) have the correct nonce",
      'account sequence mismatch',
      'nonce (has )?(been |already )*(used|expired)',
      'pool\\(stale|::stale',
    ],
  },
];
