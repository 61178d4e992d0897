import { CHAT_FAULTS } from './chat-faults.ts'
import { type FaultRow, later, sender, unblamed } from './fault-row.ts'
import { LEDGER_FAULTS } from './ledger-faults.ts'
import { MARKET_FAULTS } from './market-faults.ts'
import { MINING_FAULTS } from './mining-faults.ts'
import { NETWORK_FAULTS } from './network-faults.ts'
import { OUTSIDE_FAULTS } from './outside-faults.ts'

/** Every fault by its code: see {@link FaultRow}. */
export const FAULT_TABLE = {
  'amount/not-decimal': sender('"{text}" is not a plain decimal number'),
  'amount/too-many-decimals': sender('"{text}" has more than {decimals} decimals'),
  'amount/too-large': sender('"{text}" is more than there can be of any asset'),

  'address/malformed': sender('"{text}" is not an address: {reason}'),
  'address/other-network': sender('the address begins with {got}, this network uses {expected}'),

  'key/words-invalid': sender('these are not 24 valid words: {reason}'),
  'key/malformed': sender('malformed public keys: {reason}'),

  'codec/malformed': sender('malformed {type}: {reason}'),

  'tx/too-large': sender('the transaction has {bytes} bytes, allowed are {bytesMax}'),
  'tx/version': sender('unknown transaction version {version}'),
  'tx/chain-id': sender('the transaction is for chain {chainId}, this is chain {expected}'),
  'tx/kind': sender('unknown transaction kind {kind}'),
  'tx/payload': sender('malformed payload of {kind}: {reason}'),
  'tx/amount': sender('{field} is {value}; allowed is {least} to below 2^112'),
  'tx/field': sender('{field}: {reason}'),
  'tx/keys-misplaced': sender('the witness carries the public keys if and only if the nonce is 0'),
  'tx/signature-count': sender('the witness holds {count} signatures, the policy wants {expected}'),
  'tx/signature-order': sender('signature key indices must be strictly increasing and below {keys}'),
  'tx/signature-length': sender('signature {index} has {bytes} bytes, its scheme has {expected}'),
  'tx/keys-not-of-sender': sender('the public keys do not hash to the sender address'),
  'tx/bad-signature': sender('a signature does not verify'),
  'tx/keys-missing': later(
    'the public keys of the sender are not known here yet; send its first transaction (nonce 0) first, or, if that is mined and this node began from a snapshot without them, send this one through another node: the block that mines it brings the keys here too',
  ),
  'tx/json': sender('{field}: {reason}'),

  'tx/sender-unknown': later('the sender has no account and so cannot pay the fee'),
  'tx/nonce-too-low': sender('nonce {nonce} is used; the next nonce is {next}'),
  'tx/nonce-too-high': later('nonce {nonce} is too far ahead; the next nonce is {next}'),
  'tx/expired': sender('validUntil {validUntil} lies before the next block {height}'),
  'tx/fee-rate-below-base': later(
    'the transaction pays a fee of at most {feeText}; a block takes at least {leastText} for it now',
  ),
  'tx/fee-unpayable': later('the balance of {balanceText} does not pay the fee of {feeText}'),

  ...LEDGER_FAULTS,

  'block/malformed': sender('malformed block: {reason}'),
  'block/too-large': sender('the transactions have {bytes} bytes, allowed are {bytesMax}'),
  'block/version': sender('unknown header version {version}'),
  'block/height': sender('the height is {height}, the parent makes it {expected}'),
  'block/target': sender('the target differs from the computed one'),
  'block/time-not-after-parent': sender("the time {time} is not after the parent's {parentTime}"),
  'block/time-too-new': later('the time {time} is more than {aheadMsMax} ms ahead of the local clock'),
  'block/base-fee': sender('the base fee is {baseFee}, the parent makes it {expected}'),
  'block/history-root': sender('the history root differs from the computed one'),
  'block/proof-of-work': sender('the proof-of-work hash is above the target'),
  'block/transactions-root': sender('the transactions do not match the header'),
  'block/witness-root': sender('the witnesses do not match the header'),
  'block/duplicate-transaction': sender('transaction {txId} is in the block twice'),
  'block/weight-limit': sender('the weight {weight} exceeds {weightMax}'),
  'block/writes-limit': sender('the declared state writes {writes} exceed {writesMax}'),
  'block/weight-used': sender('the header says weight {said}, the transactions weigh {weight}'),
  'block/transaction': sender('transaction {index} is invalid: {reason}'),
  'block/receipts-root': sender('the receipts root differs from the computed one'),
  'block/state-root': sender('the state root differs from the computed one'),

  'chain/unknown-parent': later('the parent {parent} is not known here'),
  'chain/known-block': unblamed('the block {id} is known already'),
  'chain/invalid-ancestor': sender('the block {id} is known to be invalid, and so is what builds on it'),
  'chain/reorganisation-too-deep': unblamed(
    'the heavier branch forks {depth} blocks back; beyond {depthMax} the operator must accept it',
  ),
  'chain/fork-too-deep': unblamed(
    'the branch of the block forks {depth} blocks back; beyond {depthMax} nothing can be unwound and no branch is kept',
  ),
  'chain/keys-missing': later('the public keys of {address} are missing here'),
  'chain/head-moving': later('the head moved {tries} times while this was read; the same request works in a moment'),
  'chain/branch-too-light': later(
    'the block is off the best chain and its branch has far less work; it is taken when the work of the whole branch is shown',
  ),
  'chain/snapshot-too-light': later(
    'the snapshot at height {height} has no more work than the best chain, so it is not used',
  ),
  'chain/state-unproven': later(
    'the state on the disk is not proven to be that of the block at height {height}; it is dropped and fetched again',
  ),
  'chain/unverified': later('the signatures of the block could not be checked just now: {reason}'),
  'chain/stopped': later('the node is stopping'),

  'mempool/known': unblamed('the transaction is in the mempool already'),
  'mempool/mined': unblamed('the transaction is mined already'),
  'mempool/full': later('the mempool is full; a fee rate above {minFeeRate} would be accepted'),
  'mempool/account-limit': later('the account has {count} transactions waiting; {countMax} are allowed'),
  'mempool/account-unpaid': later(
    'this node has accepted {countMax} transactions of the account that are not mined; it accepts {perBlock} more with every block',
  ),
  'mempool/fee-too-low': sender(
    'the fee of {feeText} is too low; at least {leastText} is accepted for this transaction',
  ),
  'mempool/replacement-fee-too-low': sender(
    'replacing the waiting transaction takes a fee of at least {leastText}, and a tip of at least {tipText}',
  ),
  'mempool/balance-exceeded': later('this and what waits before it need {neededText}, the balance is {balanceText}'),
  'mempool/tab-waits': later('another transaction that funds or closes the tab {tabId} waits; replace that one'),
  'mempool/claim-spent': later('every entry of the claim is of an unknown tab, or brings nothing new'),
  'mempool/busy': later('too many transactions wait for verification, or a reorganisation is under way'),

  'mempool/unverified': later('the signature could not be checked just now: {reason}'),

  ...NETWORK_FAULTS,
  ...MINING_FAULTS,

  ...MARKET_FAULTS,
  ...OUTSIDE_FAULTS,
  ...CHAT_FAULTS,

  'rpc/malformed-json': sender('the body is not JSON: {reason}'),
  'rpc/invalid-request': sender('the request cannot be used: {fields}'),
  'rpc/unsupported-network': sender('net is {net}; supported is {supported}'),
  'rpc/media-type': sender('the content type {contentType} is not read here; send application/json'),
  'rpc/body-too-large': sender('the body exceeds {limitBytes} bytes'),
  'rpc/too-many-values': sender(
    'the body has more than {valuesMax} values or {namesMax} different names, a name of more than 1024 characters, or is mostly blanks and quotes',
  ),
  'rpc/unreadable': sender('this is no HTTP request: {reason}'),
  'rpc/headers-too-large': sender('the headers exceed {limitBytes} bytes'),
  'rpc/receive-timeout': later('the request did not arrive in time'),
  'rpc/unauthorized': sender('this is for the operator: send the token of operator.token'),
  'rpc/foreign-origin': sender(
    'pages of {origin} may not call this node; its operator can list them in mcp.allowed-origins',
  ),
  'rpc/foreign-host': sender(
    'this node listens for its own machine only, and is not called {host}; its operator can name it in rpc.public-url',
  ),
  'rpc/not-found': sender('there is nothing at {path}; GET /openapi.json says what there is'),
  'rpc/near-path': sender('there is nothing at {path}; did you mean {meant}?'),
  'rpc/method-not-allowed': sender('{method} is not served at {path}; served: {allowed}'),
  'rpc/rate-limited': later('too many requests; try again in {seconds} s'),
  'rpc/too-many-at-once': later(
    'too many requests of this address, of its network, or of one connection, are under way; try again in {seconds} s',
  ),
  'rpc/too-many-streams': later('too many streams of events are open'),
  'rpc/busy': later('too many requests at once'),
  'rpc/internal': unblamed('an error of this node; its log has it under the request id'),
  'rpc/block-not-found': sender('there is no block {id} here'),
  'rpc/request-not-found': sender('no paid call with the payment {txId} is known here'),
  'rpc/asset-not-found': sender('there is no asset {symbol} here'),
  'rpc/pool-not-found': sender('there is no pool {pool} here'),
  'rpc/agent-not-found': sender('there is no agent {agentId} here'),
  'rpc/bridge-network-not-found': sender('the bridge has no network {network}; there are: {networks}'),
  'rpc/withdrawal-not-found': sender('there is no withdrawal {id} here'),
  'rpc/no-market': unblamed('this node sells no services'),
  'rpc/no-tabs': unblamed('this node takes no tabs: pay each call by itself'),

  'config/unknown-key': sender('this command does not know {key} in the {source}; did you mean {suggestion}?'),
  'config/value': sender('{key} is "{value}"; allowed: {allowed}'),
  'config/file': sender('the file {path} cannot be used: {reason}'),
  'cli/usage': sender('{reason}'),
  'cli/node-unreachable': later('no node answers at {url}{advice}'),
  'cli/refused': unblamed('the node refused: {message}'),
  'cli/price-too-high': unblamed('the price is {price}, your limit is {limit}; see --max-price'),
  'cli/fee-too-high': unblamed(
    'the fee could come to {fee} at the rates that the node suggests, the limit is {limit}; see --max-fee',
  ),
  'cli/transaction-failed': unblamed(
    'the transaction {txId} was mined at height {height} and failed with {outcome}; only its fee of {fee} was charged',
  ),
  'cli/impact': sender(
    'this pays {impact} less than the listed prices of its pools: nothing was sent; trade less, or say --accept-impact',
  ),
  'cli/worse-route': sender(
    'this pays {impact} less than the best route: nothing was sent; leave --route out, or say --accept-impact',
  ),
  'cli/far-price': sender(
    'the price of the pool lies {distance} from the known one: nothing was sent; change the amounts or wait, or say --accept-impact',
  ),
  'cli/loss': sender(
    'this is worth {brings} and its fee is {costs}: nothing was sent; wait, make it larger, or say --accept-loss',
  ),
  'cli/ended': unblamed('the client was ended'),
  'cli/declined': sender('nothing was sent'),
  'cli/not-possible': unblamed('nothing was sent: {reason}'),
  'cli/not-sent': unblamed('this would fail with {reason}; it was not sent, so it costs nothing'),
  'cli/would-fail': unblamed('this would fail with {reason}; its fee of {fee} would be charged'),
  'cli/would-not-mine': unblamed('no block could hold this now: {reason}; nothing would be charged'),
  'cli/not-mined-yet': later(
    'whether {txId} was mined is not known yet, and blocks to height {validUntil} can hold it; look before you send it again: npx --no farthing tx {txId}{flags}',
  ),
  'cli/sent-blind': later(
    'no answer to {txId}: it may have arrived, and blocks to height {validUntil} can hold it; look before you send it again: npx --no farthing tx {txId}{flags}',
  ),
  'cli/expired': unblamed(
    'the transaction {txId} was not mined up to height {validUntil}, the last that could hold it, and the node is at {height}; nothing was charged',
  ),
  'wallet/exists': sender('there is a wallet named {name} at {path}; choose another name with --wallet'),
  'wallet/missing': sender(
    'there is no wallet named {name} at {path}; make one with: npx --no farthing wallet new --wallet {name}{flags} (npx --no farthing init{flags} brings the funded ones of the devnet)',
  ),
  'wallet/passphrase': sender('the passphrase does not open the wallet {path}'),
  'wallet/passphrase-needed': sender('the wallet needs a passphrase: set wallet.passphrase-file or run on a terminal'),
  'wallet/damaged': unblamed('the wallet file {path} is damaged: {reason}'),
  'call/damaged': unblamed('the kept call {path} is damaged: {reason}'),
  'file/unreadable': sender('{path} cannot be read: {reason}'),
  'file/unwritable': sender('{path} cannot be written: {reason}'),
  'rpc/port-taken': unblamed('port {port} on {host} is taken; stop what uses it or choose another with --rpc-port'),
  'rpc/address-unusable': unblamed('cannot listen on {host}:{port}: {reason}'),

  'storage/locked': unblamed(
    'the data folder {folder} is in use by another process; stop it or choose another with --data-dir',
  ),
  'storage/other-genesis': unblamed(
    'the data folder {folder} belongs to {found}, not to {expected}; choose another with --data-dir',
  ),
  'storage/other-schema': unblamed(
    'the data folder {folder} has schema {found}, this release reads {expected}; use the release that wrote it, or choose another with --data-dir',
  ),
  'storage/other-rules': unblamed(
    'the chain in the data folder {folder} was written under other rules than those of this release up to its height {height}; move chain and network.json in the folder away, and the chain is fetched again',
  ),
  'storage/stale-indexes': unblamed(
    'the indexes of the data folder {folder} are unfinished or those of another release; rebuild them with: npx --no farthing reindex{flags}',
  ),
  'storage/pruned': unblamed(
    'this node does not hold what was in block {height}: it has bodies from height {bodiesFrom} on and witnesses from {witnessesFrom} on; ask a node that keeps more',
  ),
  'storage/past-unknown': unblamed(
    'this node knows the outcome of blocks only from height {from} on, since it began from a snapshot or rebuilt its indexes; ask a node that executed all blocks',
  ),
  'storage/not-initialised': unblamed(
    'the data folder {folder} holds no chain; make one with: npx --no farthing init{flags}',
  ),
  'storage/damaged': unblamed(
    'the data folder {folder} is damaged: {reason}; restore a backup or begin with an empty folder',
  ),
  'storage/full': unblamed('the disk of {folder} is full or failing: {reason}; free some space and start again'),
} as const satisfies Record<string, FaultRow>

/** A code has the form `area/what-is-wrong`. */
export type FaultCode = keyof typeof FAULT_TABLE
