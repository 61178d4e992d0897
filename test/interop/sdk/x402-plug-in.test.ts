import { x402Client as AxiosClient, wrapAxiosWithPayment } from '@x402/axios'
import { decodePaymentResponseHeader, type SchemeNetworkClient, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import { beforeAll, describe, expect, it } from 'vitest'
import { memoryJournal, SpendLimitError } from '../../../rpc/client/client.ts'
import { NATIVE_NETWORK, nativeAsset, nativeScheme, nativeTabScheme } from '../../../rpc/client/x402.ts'
import { Caller, marketOpen, runsIn } from '../../support/caller.ts'
import { type RunningDaemon, Workshop } from '../../support/daemon.ts'
import { until } from '../../support/processes.ts'
import { buyer } from './buyer.ts'

const workshop = new Workshop()
const runsFile = workshop.path('runs')
let daemon: RunningDaemon

beforeAll(async () => {
  daemon = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '250', TEST_RUNS_FILE: runsFile } })
  await marketOpen(daemon.url)
})

interface PaidOnTab {
  readonly result: { readonly echo: string }
  readonly receipt: { readonly txId: string }
}

const SERVICE = 'node-test-once'
const runs = (request: string): number => runsIn(runsFile).get(`${SERVICE} ${request}`) ?? 0
const order = (request: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ request }),
})

describe('the scheme plug-in', () => {
  it('lets @x402/fetch pay the native rail', async () => {
    const journal = memoryJournal()
    // The type is the official client's.
    const scheme: SchemeNetworkClient = nativeScheme(buyer(daemon.url, { journal }))
    const client = x402Client.fromConfig({
      schemes: [{ network: NATIVE_NETWORK, client: scheme }],
      spendControls: { allowedAssets: [nativeAsset('0.05')] },
    })
    const paid = wrapFetchWithPayment(fetch, client)
    const response = await paid(`${daemon.url}/api/x402/${SERVICE}`, order('slow:1'))
    const body = (await response.json()) as { readonly receipt: { readonly txId: string; readonly caller: string } }
    expect(body).toMatchObject({ paid: true, result: { echo: 'slow:1' } })
    expect(response.status).toBe(200)
    const settlement = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '')
    expect(settlement).toMatchObject({ success: true, transaction: body.receipt.txId, network: NATIVE_NETWORK })
    expect(await journal.get(body.receipt.txId)).toMatchObject({ amount: 800_000n })
    expect(runs('slow:1')).toBe(1)
  })

  it('lets @x402/axios pay the native rail', async () => {
    const client = AxiosClient.fromConfig({
      schemes: [{ network: NATIVE_NETWORK, client: nativeScheme(buyer(daemon.url)) }],
    })
    const paid = wrapAxiosWithPayment(axios.create(), client)
    const { data, status } = await paid.post(`${daemon.url}/api/x402/${SERVICE}`, { request: 'slow:2' })
    expect(status).toBe(200)
    expect(data).toMatchObject({ paid: true, result: { echo: 'slow:2' } })
    expect(runs('slow:2')).toBe(1)
  })

  it('lets @x402/fetch pay many calls from one tab', async () => {
    const url = `${daemon.url}/api/x402/${SERVICE}?rail=tab`
    await until('the agent takes tabs', async () => {
      const quote = await fetch(url, order('slow:4'))
      return ((await quote.json()) as { readonly accepts: readonly object[] }).accepts.length > 0
    })
    const agent = buyer(daemon.url, { journal: memoryJournal(), tabs: { maxDeposit: '0.5', callsAhead: 10 } })
    const scheme = nativeTabScheme(agent)
    // The type is the official client's.
    const official: SchemeNetworkClient = scheme
    const client = x402Client.fromConfig({
      schemes: [{ network: NATIVE_NETWORK, client: official }],
      spendControls: { allowedAssets: [nativeAsset('0.5')] },
    })
    const paid = wrapFetchWithPayment(scheme.fetch(fetch), client)
    const texts = ['slow:4', 'slow:5', 'slow:6', 'slow:7', 'slow:8']
    const [first = '', ...others] = texts
    const answers = [
      await paid(url, order(first)),
      ...(await Promise.all(others.map((text) => paid(url, order(text))))),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as readonly PaidOnTab[]
    expect(bodies.map(({ result }) => result.echo)).toEqual(texts)
    expect(new Set(bodies.map(({ receipt }) => receipt.txId)).size).toBe(1)
    const [tab] = await agent.tabs()
    expect(await tab?.state()).toMatchObject({ charged: 4_000_000n, receipts: 5, unanswered: 0 })
    expect(texts.map(runs)).toEqual([1, 1, 1, 1, 1])
  })

  it('pays nothing where the official client or ours forbids it', async () => {
    const before = await new Caller(daemon.url, 1).balance()
    const pay = (controls: object, maxPerCallUsd?: number) => {
      const agent = buyer(daemon.url, maxPerCallUsd === undefined ? {} : { maxPerCallUsd })
      const schemes = [{ network: NATIVE_NETWORK, client: nativeScheme(agent) } as const]
      const paid = wrapFetchWithPayment(fetch, x402Client.fromConfig({ schemes, ...controls }))
      return paid(`${daemon.url}/api/x402/${SERVICE}`, order('slow:3'))
    }
    // As documented: the official client refuses an unknown asset unless it is listed.
    await expect(pay({})).rejects.toThrow(/allowedAssets/)
    await expect(pay({ spendControls: { allowedAssets: [nativeAsset('0.001')] } })).rejects.toThrow(
      /maxAmountPerPayment/,
    )
    await expect(pay({ spendControls: { allowedAssets: true } }, 0.0001)).rejects.toThrow(/maxPerCallUsd/)
    const scheme = nativeScheme(buyer(daemon.url))
    const { offer } = await buyer(daemon.url).quote(SERVICE, 'slow:3')
    const capped = scheme.createPaymentPayload(1, offer as never, { maxAmountPerPayment: '799999' })
    await expect(capped).rejects.toBeInstanceOf(SpendLimitError)
    expect(await new Caller(daemon.url, 1).balance()).toBe(before)
    expect(runs('slow:3')).toBe(0)
  })
})
