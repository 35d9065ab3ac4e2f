/** Declares the request and response fields of the account REST routes. */
import { z } from 'zod';
import { limits } from '../limits/service.ts';

/** The password, confirmed before an account is deleted. */
export const leaveFields = z.strictObject({ password: z.string().min(1).max(limits.passwordBytesMax) });

export const accountView = z.object({
  account_id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  created_at: z.iso.datetime(),
  timezone: z.string().nullable().describe("IANA name; null: the hub's default"),
});
