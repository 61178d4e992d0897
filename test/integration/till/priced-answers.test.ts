import { expect, it } from 'vitest'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { ask } from '../../support/api.ts'
import { ApiServer } from '../../support/api-server.ts'
import { wallet } from '../../support/chain.ts'

it('names the asset that a quote may not swap for itself', async () => {
  const server = await ApiServer.open()
  const { status, body } = await ask(server.url, '/api/v1/quote?from=FAR&to=FAR&amount=1')
  expect([status, body.code]).toEqual([400, 'invalid_request'])
  expect(JSON.stringify(body)).toContain('to must be another asset than from')
  await server.close()
})

it('shows holdings with the depth of the market behind their price, and whether that is thin', async () => {
  const server = await ApiServer.open()
  const address = formatAddress('dfar', wallet(5).address)
  const { body } = await ask<Record<'native', Held> & { tokens: readonly Held[] }>(
    server.url,
    `/api/v1/accounts/${address}/holdings`,
  )
  expect(body.native.price).toMatchObject({ depthUsd: '100000', confidence: 'normal' })
  const wool = body.tokens.find(({ symbol }) => symbol === 'WOOL')
  expect(wool?.price).toMatchObject({ depthUsd: '5000', confidence: 'low' })
  await server.close()
})

interface Held {
  readonly symbol: string
  readonly price: object
}
