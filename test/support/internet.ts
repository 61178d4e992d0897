import type { NameQuestions } from '../../src/adapters/name-system.ts'
import type { Internet } from '../../src/adapters/open-web.ts'

/** A made-up internet as plain data, so that a daemon in another process can get it. */
export interface InternetPlan {
  /** Addresses by name. A name that is neither here nor in `mail` does not exist. */
  readonly names: Readonly<Record<string, readonly string[]>>
  /** Mail exchangers by domain; a domain with an empty list exists and has no MX record. */
  readonly mail?: Readonly<Record<string, readonly { readonly exchange: string; readonly priority: number }[]>>
  /** Local port by address, such as `93.184.216.1:80`. Connections to other addresses fail. */
  readonly ports: Readonly<Record<string, number>>
  /** The certificate of the trusted authority. */
  readonly ca?: string
  /** Whether no name server answers. */
  readonly isDown?: boolean
}

/** No program listens on this port: it is reserved. */
const DEAD_PORT = 1

/** The internet of a plan. All connections stay on this machine. */
export function internetOf({ names, mail = {}, ports, ca, isDown = false }: InternetPlan): Internet {
  const known = (name: string): boolean => Object.hasOwn(names, name) || Object.hasOwn(mail, name)
  const answered = async <T>(name: string, records: readonly T[]): Promise<T[]> => {
    if (isDown) throw refusalOf('ETIMEOUT')
    if (records.length > 0) return [...records]
    throw refusalOf(known(name) ? 'ENODATA' : 'ENOTFOUND')
  }
  const addresses = (name: string, isV6: boolean): readonly string[] =>
    (names[name] ?? []).filter((address) => address.includes(':') === isV6)
  const questions: NameQuestions = {
    resolve4: (name) => answered(name, addresses(name, false)),
    resolve6: (name) => answered(name, addresses(name, true)),
    resolveMx: (name) => answered(name, mail[name] ?? []),
    resolveNs: (name) => answered(name, ['a.root-servers.example']),
    cancel: () => {},
  }
  const to = (address: string, port: number) => {
    const host = address.includes(':') ? `[${address}]` : address
    return { address: '127.0.0.1', port: ports[`${host}:${port}`] ?? DEAD_PORT }
  }
  return { ask: () => questions, dial: { to, ...(ca !== undefined && { ca }) } }
}

function refusalOf(code: string): Error {
  return Object.assign(new Error(code), { code })
}
