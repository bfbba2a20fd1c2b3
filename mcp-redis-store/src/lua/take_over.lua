-- Begins an epoch of a session and keeps it as long as if it was saved. KEYS: session. ARGV: process, number of its lease.
local record, keep, process, number, last = unpack(redis.call('HMGET', KEYS[1], 'r', 'k', 'p', 'n', 'l0'))
if not record then return false end
if process ~= ARGV[1] or number ~= ARGV[2] then return 'conflict' end
-- After it the script may write although the store is full.
redis.call('PEXPIRE', KEYS[1], keep)
local epoch = redis.call('HINCRBY', KEYS[1], 'e', 1)
return { record, epoch, tonumber(last or 0) }
