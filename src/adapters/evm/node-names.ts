import { fault } from '../../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../../consensus/primitives/result.ts'
import { JsonRpcNode } from './json-rpc-node.ts'

const KEY_LIKE = /^(?=.*\d)[a-z0-9]{16,}$|^[a-z0-9_-]{33,}$/i

/**
 * Makes the nodes of a network from the addresses in a setting. A node is named by its host, with parts that look like
 * a key masked, and numbered if two share a host. The fault `config/value` does not show the address.
 */
export function nodesOf(setting: string, urls: readonly string[], chainId: number): Result<readonly JsonRpcNode[]> {
  const nodes: JsonRpcNode[] = []
  for (const text of urls) {
    if (!URL.canParse(text) || !isWritten(new URL(text))) {
      const allowed = 'http(s) URLs separated by commas'
      return fail(fault('config/value', { key: setting, value: `(address ${nodes.length + 1}, not shown)`, allowed }))
    }
    const url = new URL(text)
    const host = shownHost(url)
    const same = nodes.filter(({ name }) => name === host || name.startsWith(`${host} #`)).length
    nodes.push(new JsonRpcNode(url, same === 0 ? host : `${host} #${same + 1}`, chainId))
  }
  return ok(nodes)
}

/** A lone % in user or password does not decode. */
function isWritten({ protocol, username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}${password}`)
    return protocol === 'http:' || protocol === 'https:'
  } catch {
    return false
  }
}

function shownHost({ hostname, port }: URL): string {
  const shown = hostname.split('.').map((label) => (KEY_LIKE.test(label) ? '***' : label))
  return `${shown.join('.')}${port === '' ? '' : `:${port}`}`
}
