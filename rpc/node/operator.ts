import { createHash, timingSafeEqual } from 'node:crypto'
import type { NodeApi } from './node-api.ts'

/** Whether an `Authorization` header holds the operator's token, compared in constant time. */
export function isOperator(
  { operatorToken }: Pick<NodeApi, 'operatorToken'>,
  authorization: string | undefined,
): boolean {
  const [, token] = /^Bearer ([^ ]{1,200})$/i.exec(authorization ?? '') ?? []
  return operatorToken !== undefined && token !== undefined && timingSafeEqual(digest(token), digest(operatorToken))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
