import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import {
  type Chain,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  numberToHex,
  padHex,
  parseSignature,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { ofWallet, type Signed, signCancellation } from './authorization.ts'
import { BASE_SEPOLIA, type TestNetwork } from './network.ts'
import { codeOf, TOKEN_ABI, tokenCode } from './token.ts'

const GAS_MONEY = 10n ** 18n
const RECEIPT_MS_MAX = 60_000
type Address = Hex

/**
 * A real EVM chain in this process with a JSON-RPC server. Each transaction makes a block. It starts with one contract:
 * the dollar token, at the address that its network names.
 */
export class LocalChain {
  readonly network: TestNetwork
  readonly rpcUrl: string
  readonly viem: Chain
  readonly #close: () => Promise<void>
  readonly #reader

  private constructor(network: TestNetwork, rpcUrl: string, close: () => Promise<void>) {
    this.network = network
    this.rpcUrl = rpcUrl
    this.#close = close
    this.viem = defineChain({
      id: network.chainId,
      name: 'Local chain',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    })
    this.#reader = createPublicClient({ chain: this.viem, transport: http(), pollingInterval: 20, cacheTime: 0 })
  }

  /** Starts the chain on a free port of 127.0.0.1. */
  static async start(network: TestNetwork = BASE_SEPOLIA): Promise<LocalChain> {
    const hardhat = await createHardhatRuntimeEnvironment({
      networks: {
        local: {
          type: 'edr-simulated',
          chainType: 'l1',
          chainId: network.chainId,
          // Many settlements in one second must not push block times ahead of the clocks that judge deadlines.
          allowBlocksWithSameTimestamp: true,
        },
      },
    })
    const server = await hardhat.network.createServer('local', '127.0.0.1', 0)
    const { port } = await server.listen()
    const chain = new LocalChain(network, `http://127.0.0.1:${port}`, () => server.close())
    await chain.ask('hardhat_setCode', [network.token, tokenCode(network)])
    return chain
  }

  /** Client that reads the chain. */
  get reader() {
    return this.#reader
  }

  /** A new key without dollars. */
  newKey(): PrivateKeyAccount {
    return privateKeyToAccount(generatePrivateKey())
  }

  /** A new key with that many units of the token and no money for gas, like a payer of x402. */
  async payer(units: bigint): Promise<PrivateKeyAccount> {
    const account = this.newKey()
    await this.mint(account.address, units)
    return account
  }

  /** A contract wallet with that many units: its owner's key and its address. */
  async contractWallet(units: bigint): Promise<{ readonly owner: PrivateKeyAccount; readonly address: Address }> {
    const [owner, { address }] = [this.newKey(), this.newKey()]
    await this.ask('hardhat_setCode', [address, codeOf('ContractWallet')])
    await this.ask('hardhat_setStorageAt', [address, '0x0', padHex(owner.address, { size: 32 })])
    await this.mint(address, units)
    return { owner, address }
  }

  /** A contract wallet as an account: its owner signs in its name. */
  async walletAccount(units: bigint): Promise<PrivateKeyAccount> {
    const { owner, address } = await this.contractWallet(units)
    const sign: PrivateKeyAccount['sign'] = async (said) => ofWallet(await owner.sign(said)) as never
    const signTypedData: PrivateKeyAccount['signTypedData'] = async (said) => ofWallet(await owner.signTypedData(said))
    return { ...owner, address, sign, signTypedData }
  }

  /** A client that sends transactions from an account, which gets money for gas. */
  async sender(account: PrivateKeyAccount = this.newKey()) {
    await this.ask('hardhat_setBalance', [account.address, numberToHex(GAS_MONEY)])
    return createWalletClient({ account, chain: this.viem, transport: http() })
  }

  async mint(to: Address, units: bigint): Promise<void> {
    const sender = await this.sender()
    const hash = await sender.writeContract({
      address: this.network.token,
      abi: TOKEN_ABI,
      functionName: 'mint',
      args: [to, units],
    })
    await this.#reader.waitForTransactionReceipt({ hash, timeout: RECEIPT_MS_MAX })
  }

  /** Token balance of an address, in units. */
  balance(of: Address): Promise<bigint> {
    return this.#reader.readContract({
      address: this.network.token,
      abi: TOKEN_ABI,
      functionName: 'balanceOf',
      args: [of],
    })
  }

  /** Whether an authorization was used or cancelled. */
  isUsed(payer: Address, nonce: Hex): Promise<boolean> {
    return this.#reader.readContract({
      address: this.network.token,
      abi: TOKEN_ABI,
      functionName: 'authorizationState',
      args: [payer, nonce],
    })
  }

  /** Uses of authorizations since the chain began, of one payer or of all. */
  async uses(payer?: Address): Promise<readonly { readonly transaction: Hex; readonly nonce: Hex }[]> {
    const logs = await this.#reader.getContractEvents({
      address: this.network.token,
      abi: TOKEN_ABI,
      eventName: 'AuthorizationUsed',
      fromBlock: 0n,
      ...(payer === undefined ? {} : { args: { authorizer: payer } }),
    })
    return logs.map(({ transactionHash, args }) => ({ transaction: transactionHash, nonce: args.nonce as Hex }))
  }

  /** Submits an authorization to the token, as anyone who has seen it may. Returns the mined transaction. Throws on refusal. */
  async carryOut({ authorization, signature }: Signed): Promise<Hex> {
    const { from, to, value, validAfter, validBefore, nonce } = authorization
    const numbers = [BigInt(value), BigInt(validAfter), BigInt(validBefore)] as const
    const sender = await this.sender()
    return sender.writeContract({
      address: this.network.token,
      abi: TOKEN_ABI,
      functionName: 'transferWithAuthorization',
      args: [from, to, ...numbers, nonce, signature],
    })
  }

  /** Cancels an authorization, as its payer may while it is unused. */
  async cancel(payer: PrivateKeyAccount, nonce: Hex): Promise<void> {
    const { r, s, v } = parseSignature(await signCancellation(payer, nonce))
    const sender = await this.sender()
    await sender.writeContract({
      address: this.network.token,
      abi: TOKEN_ABI,
      functionName: 'cancelAuthorization',
      args: [payer.address, nonce, Number(v), r, s],
    })
  }

  async succeeded(transaction: Hex): Promise<boolean> {
    const { status } = await this.#reader.getTransactionReceipt({ hash: transaction })
    return status === 'success'
  }

  /** Sends a JSON-RPC request to the chain's node. */
  ask(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#reader.request({ method, params } as never)
  }

  close(): Promise<void> {
    return this.#close()
  }
}
