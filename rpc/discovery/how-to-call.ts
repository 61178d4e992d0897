import { shellWord } from './plain-text.ts'

/** What an example of a call is made from. */
export interface CallExample {
  readonly baseUrl: string
  readonly serviceId: string
  readonly request: string
  /** Name of the chain. The client pays on no other. */
  readonly network: string
}

/** A `curl` command without payment. */
export function curlQuote({ baseUrl, serviceId, request }: CallExample): string {
  const url = shellWord(`${baseUrl}/api/x402/${serviceId}`)
  return `curl ${url} \\\n  -H 'content-type: application/json' \\\n  -d ${shellWord(JSON.stringify({ request }))}`
}

/** A paid call with the command line of this package. */
export function commandCall({ baseUrl, serviceId, request }: CallExample): string {
  const words = ['npx --no farthing call', serviceId, ...(request === '' ? [] : [shellWord(request)])]
  return `${words.join(' ')} \\\n  --rpc ${shellWord(baseUrl)}`
}

/** A paid call with the client of this package: two imports and four lines. */
export function clientCall({ baseUrl, serviceId, request, network }: CallExample): string {
  const words = [serviceId, ...(request === '' ? [] : [request])].map(scriptWord).join(', ')
  const other = network === 'mainnet' ? '' : `, network: ${scriptWord(network)}`
  return [
    "import { createClient } from 'farthing/client'",
    "import { walletFromKeyfile } from 'farthing/client/wallet'",
    "const wallet = await walletFromKeyfile('agent.json', { passphrase: process.env.PASSPHRASE })",
    `const agent = createClient({ baseUrl: ${scriptWord(baseUrl)}${other}, wallet })`,
    `const { result, receipt } = await agent.call(${words})`,
    'console.log(result, receipt.txId)',
  ].join('\n')
}

function scriptWord(text: string): string {
  return text.includes("'") || text.includes('\\') || text.includes('\n') ? JSON.stringify(text) : `'${text}'`
}
