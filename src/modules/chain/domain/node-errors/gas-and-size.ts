import { whole } from '../node-error-text.js';
import { SIMULATIONS, type Row } from './row.js';

export const GAS_ROWS: readonly Row[] = [
  // Above the words it contains: amounts that no field can hold.
  { class: 'invalid_transaction', any: ['intrinsic gas overflow|overflow in intrinsic gas'] },
  // Anvil calls it "intrinsic gas too high" and adds which of two limits it means.
  { class: 'gas_limit_exceeds_block', any: ['gas limit more than block'] },
  { class: 'gas_limit_exceeds_block', methods: SIMULATIONS, any: [whole('insufficient gas')] },
  {
    // Above the block gas limit: "intrinsic gas exceeds gas limit".
    class: 'intrinsic_gas_too_low',
    any: [
      'intrinsic gas',
      'floor (data )?(gas|cost)|gas floor',
      'requires at least \\S+ gas',
      'gas (is )?too low|publish compressed bytecodes|not enough gas (to|supplied)',
      'insufficient gas (to|# min\\b|\\. ?min)|(basic|intrinsic) cost is above',
      'call gas cost # (exceeds|more than)|out of native resources during validation',
      'gas limit.{0,3} field cannot be less than',
      'gas limit (is )?too low',
      'status insufficient gas',
      whole('insufficient gas'),
    ],
  },
  {
    class: 'gas_limit_exceeds_block',
    any: [
      "exceed(s|ed)? .{0,30}(block('s)? (max )?gas|current gas limit|gas (limit )?cap|gas limit\\b|max gas)",
      'gas (limit|wanted|consumption) (?!.{0,3}\\*).{0,45}(exceed|greater than|higher than|more than|above|must be at most)',
      'above (the )?gas limit',
      'gas limit (cap )?# (is )?(exceeded|reached|too (high|large|big))|\\bgas is too high',
      whole('err gas limit'),
      'gas exceeds (the )?(user )?max|exhausts resources',
      '(supplied )?gas is beyond limit|too (big|high|large) (gas|ergs) limit',
    ],
  },
  {
    // Hardhat's estimator; of a transaction that was sent, the same words would be about its execution.
    class: 'gas_limit_exceeds_block',
    methods: SIMULATIONS,
    any: ['out of gas'],
  },
  // Cosmos chains refuse a transaction so before they take it.
  { class: 'intrinsic_gas_too_low', any: [whole('out of gas'), 'out of gas in location'] },
];

const TOO_BIG = 'too (large|big|long)';

export const SIZE_ROWS: readonly Row[] = [
  {
    class: 'oversized_data',
    any: [
      'over size(d data)?',
      `(tx|txn|transaction|data|message|rlp)( is| size( is)?)? ${TOO_BIG}`,
      whole(`size ${TOO_BIG}`),
      'field is greater than # bytes|max tx size exceeded',
      '(tx|txn|transaction|data) size (is )?(exceeded|bigger than)|encoded length limit',
      `(init code|code size|contract size|call data|input size|payload len) .{0,45}(exceed|greater than|over |limit|${TOO_BIG})`,
      `(init|code|contract) (code )?size .{0,20}(exceed|${TOO_BIG})|max (init )?code size|code (is )?${TOO_BIG}`,
    ],
  },
];
