import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { NETWORK_CLIENTS } from '../../../consensus/primitives/fair-share.ts'
import { NEWCOMERS } from '../../../marketplace/till/rails/dollar/newcomers.ts'
import { FAILED_ANY } from '../../../marketplace/till/rails/dollar/payers.ts'
import { DEFAULT_HTTP_LIMITS } from '../../../rpc/server/limits.ts'
import { createServer } from '../../../rpc/server/server.ts'
import { post, type Reply } from '../../support/api.ts'
import { closeRails, paymentOf, TestRail } from '../../support/dollar.ts'
import { AGAIN, closeMarkets } from '../../support/market.ts'
import { railNode } from '../../support/rail-node.ts'

let rail: TestRail
let app: FastifyInstance
let url: string

beforeEach(async () => {
  rail = await TestRail.open()
  const options = { limits: DEFAULT_HTTP_LIMITS, trustProxy: true, onAnswer: () => {}, onError: () => {} }
  app = await createServer(railNode(rail), options)
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterEach(async () => {
  await closeRails()
  await app.close()
  await closeMarkets()
})

/** An address in its own /64 of the attacker's /48. */
const inNetwork = (i: number): string => `2001:db8:1:${i.toString(16)}::1`
const ELSEWHERE = '2001:db8:2::1'

function pay(address: string, request = 'ok'): Promise<Reply> {
  const { payload } = paymentOf(rail.payer())
  const headers = {
    'payment-signature': Buffer.from(JSON.stringify(payload)).toString('base64'),
    'x-forwarded-for': address,
  }
  return post(url, `/api/x402/${AGAIN}`, { request }, headers)
}

const statuses = (replies: readonly Reply[]): readonly number[] => replies.map(({ status }) => status)

it('a network with many addresses may have no more refused payments than a few addresses', async () => {
  rail.facilitator.profile = 'refuses'
  const most = NETWORK_CLIENTS * NEWCOMERS.refused
  const replies: Reply[] = []
  for (let i = 0; i < most; i++) replies.push(await pay(inNetwork(i)))
  expect(new Set(statuses(replies))).toEqual(new Set([402]))
  expect(statuses([await pay(inNetwork(most)), await pay(ELSEWHERE)])).toEqual([429, 402])
})

it('a network with many addresses may have no more failed work than a few addresses', async () => {
  const most = NETWORK_CLIENTS * FAILED_ANY.ofClient
  const replies: Reply[] = []
  for (let i = 0; i < most; i += NETWORK_CLIENTS)
    replies.push(
      ...(await Promise.all(Array.from({ length: NETWORK_CLIENTS }, (_, j) => pay(inNetwork(i + j), 'fail')))),
    )
  expect(rail.runs).toBe(most)
  expect(statuses([await pay(inNetwork(most), 'fail'), await pay(ELSEWHERE)])).toEqual([429, 200])
  expect(rail.runs).toBe(most + 1)
})
