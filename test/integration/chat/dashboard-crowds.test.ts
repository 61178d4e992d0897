import { afterEach, expect, it } from 'vitest'
import { SESSIONS_MAX } from '../../../rpc/chat/dashboard/sessions.ts'
import { type WalletKey, walletKey } from '../../../src/crypto/wallet-key.ts'
import { wallet } from '../../support/chain.ts'
import { DashboardServer, PlainBrowser } from '../../support/dashboard.ts'

let server: DashboardServer

afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

it('a session of a wallet is ended by no stranger, however many sessions he has', async () => {
  server = await DashboardServer.open({ trustProxy: true, ratesPerMinute: { 'sign-in': 1_000 } })
  const { url, test } = server
  const signInFrom = async (address: string, signer: WalletKey): Promise<PlainBrowser> => {
    const browser = new PlainBrowser(url)
    const signed = await browser.signed(test, signer)
    const headers = { origin: url, 'x-forwarded-for': address }
    expect((await browser.send('/dashboard/sign-in', { signed }, headers)).status).toBe(303)
    return browser
  }
  const isIn = async (browser: PlainBrowser): Promise<boolean> => (await browser.get()).text.includes('Signed in as')
  const honest = await signInFrom('198.51.100.1', wallet(1))
  const taken: PlainBrowser[] = []
  for (let i = 0; taken.length < SESSIONS_MAX; i++) {
    const signer = walletKey(new Uint8Array(32).fill(i + 1))
    const sessions = Array.from({ length: 8 }, (_, j) => signInFrom(`203.0.113.${j + 1}`, signer))
    taken.push(...(await Promise.all(sessions)))
  }
  expect(await isIn(honest)).toBe(true)
  const next = await signInFrom('198.51.100.2', wallet(2))
  const [oldest] = taken as [PlainBrowser]
  expect([await isIn(next), await isIn(honest), await isIn(oldest)]).toEqual([true, true, false])
})
