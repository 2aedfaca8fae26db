import { whole } from '../node-error-text.js';
import { SIMULATIONS, type Row } from './row.js';

/** Before all other rows: a contract chooses the text of its revert, which may contain the text of any other row. */
export const REVERTS: readonly Row[] = [
  {
    class: 'execution_reverted',
    any: [
      'execution (was |has )?reverted',
      '(transaction|call|contract|message call) (was |has )?reverted',
      'reverted with (a |an )?(reason|custom error|panic|unrecognized|unknown)',
      'vm exception while processing transaction',
      'vm execution error',
      whole('reverted'),
    ],
  },
  {
    // For an estimate: the payload cannot execute. For a send the same text would be about the node.
    class: 'execution_reverted',
    methods: SIMULATIONS,
    any: [
      /\brevert(ed)?\b/,
      // Without the halts that other rows classify: no funds at the top level, the maximum nonce of the sender.
      /\b(evm|vm) error\b(?!.{0,5}(out ?of ?funds|nonce))/,
      '(invalid|bad|unknown) # (fe )?(opcode|instruction)',
      whole('invalid operation'),
      'opcode .{0,12}not (found|defined|activated|supported)',
      whole('not activated'),
      '(invalid|bad) jump',
      'stack (under|over)flow|stack limit|return stack|out of stack|(many|insufficient) stack items',
      '(access|static call) violation|write protection',
      'return data out of bounds|out of offset',
      whole('out of bounds'),
      whole('address out of range'),
      'illegal state change|state change during|not allowed inside static',
      'call depth|call too deep',
      'contract address collision|(create|transaction) collision',
      'invalid (byte )?code\\b|code is invalid|starting with # ?ef|must not begin with',
      'invalid (subroutine|retsub)|program activation failed|opcode computation cost',
      'memory limit exceeded during',
      'execution halted|transaction execution error|due to an exception',
    ],
  },
  {
    // Calls straight into a precompiled contract.
    class: 'execution_reverted',
    methods: SIMULATIONS,
    any: [
      'precompiled? (contract )?(error|fail)',
      'elliptic curve|pairing (size|check)|not on curve|correct subgroup|field element|base/exponent',
      whole('invalid (input length|final flag)'),
    ],
  },
  { class: 'execution_reverted', methods: SIMULATIONS, codes: [3], any: [/./] },
];
