-- Renews the lease of a process or begins one, and returns its number and the other processes that live.
-- KEYS: processes. ARGV: process, number of the lease that it had, announcement, milliseconds of the lease.
-- The value of each process: the number of its lease, its end in microseconds, the announcement.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local all = redis.call('HGETALL', KEYS[1])
local known, lives = '0', false
local live, keep = {}, 0
for i = 1, #all, 2 do
  local process, number, over, said = all[i], string.match(all[i + 1], '^(%d+) (%d+) (.*)$')
  if process == ARGV[1] then
    known, lives = number, tonumber(over) > now
  elseif tonumber(over) > now then
    keep = math.max(keep, tonumber(over))
    for _, part in ipairs({ process, number, said }) do live[#live + 1] = part end
  else
    redis.call('HDEL', KEYS[1], process)
  end
end
local number = known
if not lives or number ~= ARGV[2] then
  number = string.format('%.0f', math.max(now, tonumber(ARGV[2]) + 1, tonumber(known) + 1))
end
local over = now + ARGV[4] * 1000
-- After a removal a script may write although the store is full.
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], number .. ' ' .. string.format('%.0f', over) .. ' ' .. ARGV[3])
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(keep, over) / 1000 + 1000))
return { number, live }
