-- Makes a process the owner of a session unless another one lives that is. KEYS: session, processes. ARGV: process.
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local owner = redis.call('HGET', KEYS[1], 'o')
if owner and owner ~= ARGV[1] then
  local time = redis.call('TIME')
  local lease = redis.call('ZSCORE', KEYS[2], owner)
  if lease and tonumber(lease) > time[1] * 1000 + time[2] / 1000 then return owner end
end
redis.call('HSET', KEYS[1], 'o', ARGV[1])
return ''
