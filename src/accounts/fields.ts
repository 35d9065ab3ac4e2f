/** Declares what the REST rows of accounts take. */
import { z } from 'zod';
import { limits } from '../limits/service.ts';

/** The password again, before an account is deleted. */
export const leaveFields = z.strictObject({ password: z.string().min(1).max(limits.passwordBytesMax) });
