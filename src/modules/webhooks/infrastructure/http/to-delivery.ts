import type { DeliveryView } from '../../domain/delivery.js';
import type { DeliveryWithBody } from '../../domain/delivery-log.js';
import type { DeliveryDto, DeliveryWithBodyDto } from './delivery.dto.js';

export function deliveryView(view: DeliveryView): Pick<DeliveryDto, keyof DeliveryDto> {
  const { eventId, type, txId, status, tries, answerStatus, answerBody, error } = view;
  return {
    eventId,
    type,
    txId,
    status,
    tries,
    dueAt: view.dueAt?.toISOString() ?? null,
    answerStatus,
    answerBody,
    error,
    triedAt: view.triedAt?.toISOString() ?? null,
    eventAt: view.eventAt.toISOString(),
  };
}

export function deliveryViewWithBody(view: DeliveryWithBody): DeliveryWithBodyDto {
  return { ...deliveryView(view), body: JSON.parse(view.body) as Record<string, unknown> };
}
