-- Replaces the owner of a session, and returns the epoch. KEYS: session.
-- ARGV: process and number that must be there, empty for no owner; process and number that shall be there.
local epoch, process, number = unpack(redis.call('HMGET', KEYS[1], 'e', 'p', 'n'))
if not epoch then return 'gone' end
if (process or '') ~= ARGV[1] or (number or '') ~= ARGV[2] then return 'changed' end
-- After a removal a script may write although the store is full.
redis.call('HDEL', KEYS[1], 'p', 'n')
redis.call('HSET', KEYS[1], 'p', ARGV[3], 'n', ARGV[4])
return tonumber(epoch)
