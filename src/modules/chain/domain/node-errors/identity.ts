import type { Row } from './row.js';

/** Errors about the chain id, the sender, and whether the node accepts the sender. */
export const IDENTITY_ROWS: readonly Row[] = [
  {
    // Above `invalid_sender`: geth says "invalid sender: invalid chain id for signer".
    class: 'invalid_chain_id',
    any: [
      '(invalid|incorrect|wrong|mismatched|missing|unexpected|unknown) (tx |transaction |evm )?chain id',
      'chain tag mismatch',
      "chain id # (is )?(not (supported|allowed)|mismatch|required|higher than|does (n't| not) match)",
      'meant for chain id|should not have a chain id|old legacy chain id',
      'signed for another chain|incompatible eip 155',
      'replay protect|unprotected (legacy )?transactions',
    ],
  },
  {
    class: 'sender_not_eoa',
    any: [
      'sender (is )?no(t an)? eoa|sender is (a )?contract|from a non eoa',
      '(sender|signer|call(er)?)s? (address |account )?# (with|has) (deployed )?(byte )?code',
    ],
  },
  {
    class: 'invalid_sender',
    any: [
      'invalid sender',
      'failed to (recover|resolve) (the )?(sender|signer)|cannot extract signature|recovering sender|signer recovery',
      '(sender|signer|from) (is )?(not (specified|an account)|could not be)',
    ],
  },
  {
    // A provider's lists of methods, addresses and keys: above the lists of senders.
    class: 'method_unsupported',
    any: ['method (is )?not (white|allow) listed', '\\bip (is )?not in'],
  },
  {
    class: 'blocked_sender',
    any: [
      'black list|block list|deny list|sanctioned|prohibited|censored',
      'not (in|on) (the )?(account )?(allow|white) list|sender .{0,20}not (white|allow) listed',
      '\\bis (temporarily )?(banned|blocked)\\b|blocked sender|does not have permission',
      'transaction is not permitted|not authorized to send|sender not authorized|forbidden sender',
      'filtered address|not allowed to receive',
      'not acceptable by the transaction pool|plugin tx pool validator',
    ],
  },
  {
    class: 'terminally_stuck',
    any: ['out of counters', 'not enough \\w+ counters', 'line count|too complicated|computing budget'],
  },
];
