import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';

/** The place in a list from which a page goes on. */
export function IsCursor(description = '`nextCursor` of the previous page'): PropertyDecorator {
  return asStacked(ApiPropertyOptional({ description }), IsOptional(), IsString(), Length(1, 100));
}

/** How many items a page has at most. */
export function IsPageLimit(byDefault: number, maximum: number, description?: string): PropertyDecorator {
  const documented = { default: byDefault, minimum: 1, maximum, ...(description !== undefined && { description }) };
  return asStacked(ApiPropertyOptional(documented), IsOptional(), ...wholeNumber(maximum));
}

export function IsChainIdQuery(): PropertyDecorator {
  const documented = ApiPropertyOptional({ example: 31337 });
  return asStacked(documented, IsOptional(), ...wholeNumber(Number.MAX_SAFE_INTEGER));
}

/** Some chains, of a body. Can be null. */
export function IsChainIds(most: number, description: string): PropertyDecorator {
  const items = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
  return asStacked(
    ApiPropertyOptional({ type: 'array', items, nullable: true, example: [31337], description }),
    IsOptional(),
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(most),
    IsInt({ each: true }),
    Min(1, { each: true }),
    Max(Number.MAX_SAFE_INTEGER, { each: true }),
  );
}

export const DEFAULT_PAGE_ITEMS = 50;

export class PageQueryDto {
  @IsCursor()
  cursor?: string;

  @IsPageLimit(DEFAULT_PAGE_ITEMS, 200)
  limit?: number;
}

function wholeNumber(maximum: number): PropertyDecorator[] {
  return [Type(() => Number), IsInt(), Min(1), Max(maximum)];
}

/** In the order in which decorators above a property are applied: the last one first. */
export function asStacked(...decorators: readonly PropertyDecorator[]): PropertyDecorator {
  return applyDecorators(...[...decorators].reverse());
}
