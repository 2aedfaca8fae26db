import { ApiProperty } from '@nestjs/swagger';

/** A pause of a signer that is in force. */
export class PauseDto {
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) since!: string;
  @ApiProperty({ example: 'api' }) by!: string;
  @ApiProperty({ type: String, nullable: true, example: 'key rotation' }) reason!: string | null;
}
