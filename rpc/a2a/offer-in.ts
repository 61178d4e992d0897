import type { Offer } from '../../marketplace/till/shop.ts'
import type { MarketApi } from '../node/node-api.ts'
import type { AgentMessage } from './wire.ts'

/** The offer that a message names, in a data part or as the first word of its text; undefined if it names none. */
export function offerIn({ text, data }: Pick<AgentMessage, 'text' | 'data'>, { shop }: MarketApi): Offer | undefined {
  const { serviceId = /^\s*(\S+)/.exec(text)?.[1] } = data ?? {}
  return typeof serviceId === 'string' ? shop.offer(serviceId) : undefined
}
