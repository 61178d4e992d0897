import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import solc from 'solc'
import { type Hex, parseAbi } from 'viem'
import { BASE_SEPOLIA, type TestNetwork } from './network.ts'

/** Address of the token on the test network of Base. */
export const TOKEN_ADDRESS = BASE_SEPOLIA.token
/** Name and version of the token's EIP-712 domain. */
export const TOKEN_DOMAIN = BASE_SEPOLIA.domain

/** The token's functions and events that tests and facilitators use. */
export const TOKEN_ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

interface Compiled {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: {
    readonly [file: string]: {
      readonly [contract: string]: { readonly evm: { readonly deployedBytecode: { readonly object: string } } }
    }
  }
}

/** Compiles the token of a network to its deployed code. Throws the compiler's complaints. */
export function tokenCode({ domain, decimals }: TestNetwork): Hex {
  return codeOf('DollarToken', (source) =>
    source
      .replace('name = "USDC"', `name = "${domain.name}"`)
      .replace('version = "2"', `version = "${domain.version}"`)
      .replace('decimals = 6', `decimals = ${decimals}`),
  )
}

/** Compiles a contract of this folder to its deployed code. Throws the compiler's complaints. */
export function codeOf(name: string, change: (source: string) => string = (source) => source): Hex {
  const file = `${name}.sol`
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: change(readFileSync(join(import.meta.dirname, file), 'utf8')) } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { [file]: { [name]: ['evm.deployedBytecode.object'] } },
    },
  }
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Compiled
  const complaints = errors.filter(({ severity }) => severity === 'error')
  const code = contracts?.[file]?.[name]?.evm.deployedBytecode.object
  if (complaints.length > 0 || code === undefined)
    throw new Error(complaints.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return `0x${code}`
}
