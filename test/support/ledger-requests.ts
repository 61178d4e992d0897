import type { AgentId, TokenSymbol } from '../../consensus/primitives/ids.ts'
import type { Reply } from './api.ts'
import type { Caller } from './caller.ts'
import { SAMPLE, units } from './unsigned.ts'

export type Asked = (
  send: (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>,
) => Promise<Reply>[]

/** What the requests ask for. All but `absent` exist. */
export interface LedgerScene {
  readonly agentId: string
  /** An account, and an address that has none. */
  readonly address: string
  readonly absent: string
  readonly withdrawal: string
  readonly tab: string
}

const UNKNOWN = 'ab'.repeat(32)

/** Makes trades, a token, a pool, a stake, a tab and a withdrawal, so that no list is empty. */
export async function doSomethingOfEverything(buyer: Caller): Promise<Pick<LedgerScene, 'withdrawal' | 'tab'>> {
  const hops = (...way: readonly (readonly [string, number])[]) =>
    way.map(([asset, feeBps]) => ({ asset: asset as TokenSymbol, feeBps }))
  const trade = { assetIn: 'FAR' as TokenSymbol, exactOut: false, amount: units(10n ** 9n), limit: units(0) }
  const mud = 'MUD' as TokenSymbol
  const token = { symbol: mud, name: 'Mud', decimals: 3, maxSupply: units(0), freezable: true }
  const pool = {
    assetA: 'FAR' as TokenSymbol,
    assetB: mud,
    feeBps: 100,
    amountA: units(10n ** 9n),
    amountB: units(10n ** 6n),
  }
  const away = { network: 1, amount: units(10_000_000n), recipient: '0x000000000000000000000000000000000000dEaD' }
  await buyer.send('swap', { ...trade, hops: hops(['FUSD', 30]) })
  await buyer.send('swap', { ...trade, hops: hops(['SALT', 30], ['WOOL', 100]) })
  await buyer.send('token_create', token)
  await buyer.send('token_mint', { symbol: mud, to: buyer.key.address, amount: units(10n ** 7n), create: false })
  await buyer.send('pool_create', pool)
  await buyer.send('stake', { tier: 1, amount: units(10n ** 9n) })
  const taker = { agentId: 'tab-taker' as AgentId, payout: buyer.key.address, settlers: [] }
  await buyer.send('agent_register', SAMPLE.agent_register(taker))
  await buyer.send('tab_terms', SAMPLE.tab_terms({ agentId: taker.agentId }))
  const opening = await buyer.send('tab_open', SAMPLE.tab_open({ agentId: taker.agentId }))
  const { txId } = await buyer.send('bridge_withdraw', away)
  if (!(await buyer.mined(txId)).receipt.success) throw new Error('the withdrawal failed')
  if (!(await buyer.mined(opening.txId)).receipt.success) throw new Error('the tab was not opened')
  return { withdrawal: txId, tab: opening.txId }
}

/** Good and bad requests by operation of the ledgers. `scene` is called when they are sent. */
export function ledgerRequests(scene: () => LedgerScene): Readonly<Record<string, Asked>> {
  return {
    getHistory: (send) =>
      accountPaths(scene(), 'history', [
        '',
        '?limit=1',
        '?limit=50',
        '?limit=51',
        '?cursor=x',
        '?cursor=5-0',
        '?more=1',
      ]).map((path) => send(path)),
    getHoldings: (send) => accountPaths(scene(), 'holdings', ['', '?more=1']).map((path) => send(path)),
    listTokens: (send) =>
      ['', '?limit=2', '?limit=0', '?limit=201', '?cursor=FAR', '?cursor=far', '?cursor=ZZZ', '?more=1'].map((query) =>
        send(`/api/v1/tokens${query}`),
      ),
    getToken: (send) =>
      ['FAR', 'FUSD', 'SALT', 'XBTC', 'NONE', 'far', 'TOOLONGSYMBOL', '%20'].map((name) =>
        send(`/api/v1/tokens/${name}`),
      ),
    listHolders: (send) =>
      ['FAR/holders', 'SALT/holders?limit=2', 'XBTC/holders', 'NONE/holders', 'FAR/holders?cursor=x', 'x/holders'].map(
        (path) => send(`/api/v1/tokens/${path}`),
      ),
    listStables: (send) => [send('/api/v1/stables')],
    listPools: (send) =>
      ['', '?limit=1', '?asset=SALT', '?asset=NONE', '?asset=x', `?cursor=${UNKNOWN}`, '?cursor=x', '?limit=x'].map(
        (query) => send(`/api/v1/pools${query}`),
      ),
    getPool: (send) =>
      ['FAR-FUSD-30', 'WOOL-SALT-100', 'FAR-FUSD-5', UNKNOWN, 'x', 'FAR-FAR-30'].map((id) =>
        send(`/api/v1/pools/${id}`),
      ),
    listCandles: (send) =>
      ['', '?limit=1000', '?limit=1001', '?cursor=490000', '?cursor=x'].flatMap((query) => [
        send(`/api/v1/pools/FAR-FUSD-30/candles${query}`),
        send(`/api/v1/pools/FAR-FUSD-5/candles${query}`),
      ]),
    listSwaps: (send) =>
      ['', '?limit=1', '?pool=FAR-SALT-30', '?pool=FAR-FUSD-5', '?pool=x', '?cursor=5-0-0', '?cursor=5', '?more=1'].map(
        (query) => send(`/api/v1/swaps${query}`),
      ),
    getQuote: (send) =>
      [
        'from=FAR&to=WOOL&amount=1.5',
        'from=WOOL&to=FUSD&amount=12&slippageBps=0',
        'from=FUSD&to=FAR&amountOut=3.25&slippageBps=10000',
        'from=FAR&to=FAR&amount=1',
        'from=FAR&to=XBTC&amount=1',
        'from=FAR&to=NONE&amount=1',
        'from=FAR&to=SALT',
        'from=FAR&to=SALT&amount=1&amountOut=1',
        'from=FAR&to=SALT&amount=0',
        'from=FAR&to=SALT&amount=0.000000001',
        'from=FAR&to=SALT&amount=0.00000001',
        'from=FAR&to=SALT&amountOut=99999999',
        'from=FAR&to=WOOL&amountOut=1',
        'from=FAR&to=SALT&amount=-1',
        'from=FAR&to=SALT&amount=1&slippageBps=10001',
        'from=far&to=SALT&amount=1',
        '',
      ].map((query) => send(`/api/v1/quote?${query}`)),
    getStaking: (send) => [send('/api/v1/staking')],
    listAgents: (send) =>
      ['', '?limit=1', '?limit=51', '?cursor=zz-top', '?cursor=X'].map((query) => send(`/api/v1/agents${query}`)),
    getAgent: (send) => [scene().agentId, 'nobody', 'X', 'a'].map((id) => send(`/api/v1/agents/${id}`)),
    listTabs: (send) =>
      ['', '?limit=1', '?open=true', '?open=no', '?limit=101', '?cursor=x', `?cursor=5-${UNKNOWN}`].map((query) =>
        send(`/api/v1/tabs${query}`),
      ),
    getTabFacts: (send) => [scene().tab, UNKNOWN, 'x'].map((id) => send(`/api/v1/tabs/${id}`)),
    listTabClaims: (send) =>
      [`${scene().tab}/claims`, `${UNKNOWN}/claims`, `${scene().tab}/claims?cursor=x`, 'x/claims'].map((path) =>
        send(`/api/v1/tabs/${path}`),
      ),
    listAccountTabs: (send) =>
      accountPaths(scene(), 'tabs', ['', '?limit=1', '?open=true', '?cursor=x']).map((path) => send(path)),
    listAgentTabs: (send) =>
      ['tab-taker', 'nobody', 'X', 'tab-taker?open=true', 'tab-taker?cursor=x'].map((id) => {
        const [name, query] = id.split('?')
        return send(`/api/v1/agents/${name}/tabs${query === undefined ? '' : `?${query}`}`)
      }),
    getBridge: (send) => [send('/api/v1/bridge')],
    getBridgeNetwork: (send) => ['base', '1', '99', 'none', '%20'].map((id) => send(`/api/v1/bridge/${id}`)),
    getWithdrawal: (send) => [scene().withdrawal, UNKNOWN, 'x'].map((id) => send(`/api/v1/bridge/withdrawals/${id}`)),
  }
}

/**
 * Paths of one list: of an account with each query, and without a query of an address that has no account and of two
 * malformed addresses.
 */
function accountPaths({ address, absent }: LedgerScene, list: string, queries: readonly string[]): string[] {
  const others = [absent, `x${address}`, 'dfar1']
  return [
    ...queries.map((query) => `/api/v1/accounts/${address}/${list}${query}`),
    ...others.map((other) => `/api/v1/accounts/${other}/${list}`),
  ]
}
