import { describe, expect, it } from '@jest/globals';
import { ReplayDto } from '../../../src/modules/webhooks/infrastructure/http/delivery.dto.js';
import { InvalidRequest } from '../../../src/platform/http/invalid-request.js';
import { RequestValidationPipe } from '../../../src/platform/http/validation-pipe.js';

const PIPE = new RequestValidationPipe();

describe.each(['since', 'until'])('the time of a replay in %s', (field) => {
  it.each(['2026-W10-1', '2026-100', '20261121', '2026-11-21T08', '2026-02-30', '2026-11-21T08:00:00'])(
    'is not %s, which ISO 8601 may know',
    (text) => {
      expect(() => PIPE.read(ReplayDto, { [field]: text })).toThrow(InvalidRequest);
    },
  );

  it.each(['2026-11-21', '2026-11-21T08:00:00Z', '2026-11-21T08:00:00.123+01:00'])('may be %s', (text) => {
    expect(PIPE.read(ReplayDto, { [field]: text })).toEqual({ [field]: text });
  });
});
