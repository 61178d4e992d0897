import { NATIVE_BACKEND } from '../../../../src/crypto/native-backend.ts'
import { signatureBackendSuite } from '../../../contract/signature-backend.suite.ts'

signatureBackendSuite(NATIVE_BACKEND)
