import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import solc from 'solc'
import { type Hex, parseAbi } from 'viem'

/** Where the token is on the test network of Base: the address that clients pay to without being told to trust it. */
export const TOKEN_ADDRESS = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
/** Name and version of the token's EIP-712 domain. */
export const TOKEN_DOMAIN = { name: 'USDC', version: '2' } as const

/** What tests and facilitators call of the token. */
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

const FILE = 'DollarToken.sol'

interface Compiled {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[]
  readonly contracts?: {
    readonly [file: string]: {
      readonly [contract: string]: { readonly evm: { readonly deployedBytecode: { readonly object: string } } }
    }
  }
}

/** Compiles the token: the code as it stands at an address. Throws what the compiler complains of. */
export function tokenCode(): Hex {
  const input = {
    language: 'Solidity',
    sources: { [FILE]: { content: readFileSync(join(import.meta.dirname, FILE), 'utf8') } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { [FILE]: { DollarToken: ['evm.deployedBytecode.object'] } },
    },
  }
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Compiled
  const complaints = errors.filter(({ severity }) => severity === 'error')
  const code = contracts?.[FILE]?.DollarToken?.evm.deployedBytecode.object
  if (complaints.length > 0 || code === undefined)
    throw new Error(complaints.map(({ formattedMessage }) => formattedMessage).join('\n'))
  return `0x${code}`
}
