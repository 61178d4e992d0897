import { wrapAxiosWithPaymentFromConfig } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import axios, { type AxiosInstance } from 'axios'
import { createWalletClient, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { withPaymentInterceptor } from 'x402-axios'
import { wrapFetchWithPayment } from 'x402-fetch'
import type { LocalChain } from '../evm/chain.ts'
import { CHAIN_ID } from '../evm/network.ts'
import type { PaidBody } from './payments.ts'

/** The answer to a call paid by an official client. */
export interface ClientAnswer {
  readonly status: number
  readonly body: PaidBody
  readonly headers: Headers
}

/** A client as its package ships it, with default settings. */
export interface OfficialClient {
  readonly name: string
  readonly generation: 1 | 2
  /** Query after the service's path: clients of generation 1 fail on offers that they do not know. */
  readonly query: '' | '?rail=stable'
  post(url: string, body: object, payer: PrivateKeyAccount, chain: LocalChain): Promise<ClientAnswer>
}

const SCHEME_NETWORK = `eip155:${CHAIN_ID}` as const

async function fetched(fetching: typeof fetch, url: string, body: object): Promise<ClientAnswer> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetching(url, init)
  return { status: response.status, body: (await response.json()) as PaidBody, headers: response.headers }
}

async function posted(instance: AxiosInstance, url: string, body: object): Promise<ClientAnswer> {
  // Axios throws unsuccessful answers; they are returned alike.
  const { status, data, headers } = await instance.post<PaidBody>(url, body).catch((cause: unknown) => {
    if (axios.isAxiosError<PaidBody>(cause) && cause.response !== undefined) return cause.response
    throw cause
  })
  const pairs = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string])
  return { status, body: data, headers: new Headers(pairs) }
}

function schemes(payer: PrivateKeyAccount) {
  return { schemes: [{ network: SCHEME_NETWORK, client: new ExactEvmScheme(payer) }] }
}

function wallet(account: PrivateKeyAccount, { viem: chain }: LocalChain) {
  return createWalletClient({ account, chain, transport: http() })
}

/** The public clients of x402, newest first. */
export const CLIENTS: readonly OfficialClient[] = [
  {
    name: '@x402/fetch',
    generation: 2,
    query: '',
    post: (url, body, payer) => fetched(wrapFetchWithPaymentFromConfig(fetch, schemes(payer)), url, body),
  },
  {
    name: '@x402/axios',
    generation: 2,
    query: '',
    post: (url, body, payer) => posted(wrapAxiosWithPaymentFromConfig(axios.create(), schemes(payer)), url, body),
  },
  {
    name: 'x402-fetch',
    generation: 1,
    query: '?rail=stable',
    post: (url, body, payer, chain) =>
      fetched(wrapFetchWithPayment(fetch, wallet(payer, chain) as never) as typeof fetch, url, body),
  },
  {
    name: 'x402-axios',
    generation: 1,
    query: '?rail=stable',
    post: (url, body, payer, chain) =>
      posted(
        withPaymentInterceptor(axios.create() as never, wallet(payer, chain) as never) as AxiosInstance,
        url,
        body,
      ),
  },
]
